import torch
from modeling_pegasus import PegasusForConditionalGeneration
from transformers import PegasusConfig

torch.manual_seed(0)
model = PegasusForConditionalGeneration(
    PegasusConfig(
        vocab_size=99,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=40,
        decoder_ffn_dim=40,
        max_position_embeddings=64,
        dropout=0.0,
        encoder_layerdrop=0.3,
        decoder_layerdrop=0.3,
    )
).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (9, 12):
        ids = torch.randint(3, 99, (2, length))
        step(input_ids=ids, labels=ids).loss.backward()


if __name__ == "__main__":
    main()
