import torch


@torch.compile(dynamic=True)
def beam_step(scores, logits, width):
    total = scores[:, None] + torch.log_softmax(logits, -1)
    flat = total.flatten()
    top, idx = flat.topk(width)
    return top, idx // logits.shape[-1], idx % logits.shape[-1]


def main():
    torch.manual_seed(0)
    for width in (2, 3, 4, 6, 8):
        scores = torch.zeros(width)
        for _ in range(3):
            scores, parent, token = beam_step(scores, torch.randn(width, 30), width)
        print(width, scores[0].item())


if __name__ == "__main__":
    main()
