import torch
from modeling_llava import LlavaForConditionalGeneration
from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig

torch.manual_seed(0)
config = LlavaConfig(
    vision_config=CLIPVisionConfig(
        hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, image_size=8, patch_size=4
    ),
    text_config=LlamaConfig(
        vocab_size=99, hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0
    ),
    image_token_index=90,
    image_seq_length=4,
    vision_feature_layer=-1,
)
model = LlavaForConditionalGeneration(config).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (9, 12):
        ids = torch.randint(3, 80, (2, length))
        ids[:, 1:5] = 90
        step(input_ids=ids, pixel_values=torch.randn(2, 3, 8, 8), labels=ids).loss.backward()


if __name__ == "__main__":
    main()
