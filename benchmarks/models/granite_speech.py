import torch
from modeling_granite_speech import GraniteSpeechForConditionalGeneration
from transformers import Blip2QFormerConfig, GraniteConfig, GraniteSpeechConfig

torch.manual_seed(0)
config = GraniteSpeechConfig(
    text_config=GraniteConfig(
        vocab_size=99,
        hidden_size=32,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        pad_token_id=0,
    ),
    encoder_config={
        "input_dim": 8,
        "num_layers": 2,
        "hidden_dim": 32,
        "feedforward_mult": 2,
        "num_heads": 4,
        "dim_head": 8,
        "output_dim": 6,
        "context_size": 10,
        "max_pos_emb": 20,
        "dropout": 0.0,
        "conv_kernel_size": 3,
    },
    projector_config=Blip2QFormerConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=40,
        encoder_hidden_size=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    ),
    audio_token_index=90,
    has_lora_adapter=False,
    downsample_rate=5,
    window_size=15,
)
model = GraniteSpeechForConditionalGeneration(config).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (9, 12):
        ids = torch.randint(3, 80, (1, length))
        ids[:, 1:7] = 90
        step(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            input_features=torch.randn(1, 30, 8),
            input_features_mask=torch.ones(1, 6, dtype=torch.bool),
            labels=ids,
        ).loss.backward()


if __name__ == "__main__":
    main()
