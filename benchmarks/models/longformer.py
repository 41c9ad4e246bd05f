import torch
from modeling_longformer import LongformerForMaskedLM
from transformers import LongformerConfig

torch.manual_seed(0)
config = LongformerConfig(
    vocab_size=99,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=40,
    attention_window=4,
    max_position_embeddings=64,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
model = LongformerForMaskedLM(config).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (8, 12):
        ids = torch.randint(3, 99, (2, length))
        marked = torch.zeros_like(ids)
        marked[:, 0] = 1
        step(input_ids=ids, global_attention_mask=marked, labels=ids).loss.backward()


if __name__ == "__main__":
    main()
