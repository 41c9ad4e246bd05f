import torch
from modeling_modernvbert import ModernVBertForMaskedLM
from transformers import ModernBertConfig, ModernVBertConfig, SiglipVisionConfig

torch.manual_seed(0)
config = ModernVBertConfig(
    text_config=ModernBertConfig(
        vocab_size=99,
        hidden_size=32,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        pad_token_id=0,
        attention_dropout=0.0,
        mlp_dropout=0.0,
        embedding_dropout=0.0,
    ),
    vision_config=SiglipVisionConfig(
        hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, image_size=16, patch_size=4
    ),
    image_token_id=90,
    pixel_shuffle_factor=2,
)
model = ModernVBertForMaskedLM(config).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (9, 12):
        ids = torch.randint(3, 80, (2, length))
        ids[:, 1:5] = 90
        step(
            input_ids=ids, attention_mask=torch.ones_like(ids), pixel_values=torch.randn(2, 1, 3, 16, 16), labels=ids
        ).loss.backward()


if __name__ == "__main__":
    main()
