import torch
from modeling_paligemma import PaliGemmaForConditionalGeneration
from transformers import Gemma2Config, PaliGemmaConfig, SiglipVisionConfig

torch.manual_seed(0)
config = PaliGemmaConfig(
    vision_config=SiglipVisionConfig(
        hidden_size=32,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=8,
        patch_size=4,
        projection_dim=32,
        vision_use_head=False,
    ),
    text_config=Gemma2Config(
        vocab_size=99,
        hidden_size=32,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        pad_token_id=0,
    ),
    image_token_index=90,
    projection_dim=32,
)
model = PaliGemmaForConditionalGeneration(config).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (9, 12):
        ids = torch.randint(3, 80, (2, length))
        ids[:, 0:4] = 90
        kinds = torch.ones_like(ids)
        kinds[:, :6] = 0
        step(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            token_type_ids=kinds,
            pixel_values=torch.randn(2, 3, 8, 8),
            labels=ids,
        ).loss.backward()


if __name__ == "__main__":
    main()
