import torch
from modeling_gpt2 import GPT2LMHeadModel
from transformers import GPT2Config

torch.manual_seed(0)
config = GPT2Config(
    vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
)
model = GPT2LMHeadModel(config).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (9, 12):
        ids = torch.randint(3, 99, (2, length))
        step(input_ids=ids, labels=ids).loss.backward()


if __name__ == "__main__":
    main()
