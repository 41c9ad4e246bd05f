import torch


@torch.compile
def gram(x):  # recompile
    eye = torch.eye(x.shape[1])  # recompile
    return x.T.float() @ x.float() + eye.float()


def main():
    torch.manual_seed(0)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        torch.set_default_dtype(dtype)  # recompile
        x = torch.randn(6, 3)
        print(dtype, gram(x).trace().item())  # recompile
    torch.set_default_dtype(torch.float32)


if __name__ == "__main__":
    main()
