"""One compiled forward for prompts and for single tokens: 1 is a program of its own, prompts vary."""
import torch
from torch import nn


def main():
    model = nn.Sequential(nn.Embedding(30, 8), nn.Linear(8, 30))
    forward = torch.compile(model)
    with torch.no_grad():
        for prompt in (5, 9, 12):
            tokens = torch.randint(0, 30, (1, prompt))
            logits = forward(tokens)  # recompile
            for _ in range(3):
                token = logits[:, -1:].argmax(-1)
                logits = forward(token)  # recompile


main()
