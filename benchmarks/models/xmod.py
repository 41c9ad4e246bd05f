import torch
from modeling_xmod import XmodForMaskedLM
from transformers import XmodConfig

torch.manual_seed(0)
config = XmodConfig(
    vocab_size=99,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=40,
    max_position_embeddings=64,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
    languages=["en_XX", "de_DE"],
)
model = XmodForMaskedLM(config).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (9, 12):
        ids = torch.randint(3, 99, (3, length))
        step(input_ids=ids, lang_ids=torch.tensor([0, 1, 0]), labels=ids).loss.backward()


if __name__ == "__main__":
    main()
