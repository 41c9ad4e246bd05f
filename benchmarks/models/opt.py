import torch
from modeling_opt import OPTForCausalLM
from transformers import OPTConfig

torch.manual_seed(0)
model = OPTForCausalLM(
    OPTConfig(
        vocab_size=99,
        hidden_size=32,
        ffn_dim=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        word_embed_proj_dim=32,
        dropout=0.0,
        layerdrop=0.3,
    )
).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (9, 12):
        ids = torch.randint(3, 99, (2, length))
        step(input_ids=ids, labels=ids).loss.backward()


if __name__ == "__main__":
    main()
