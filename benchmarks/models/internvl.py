import torch
from modeling_internvl import InternVLModel
from transformers import InternVLConfig, InternVLVisionConfig, Qwen2Config

torch.manual_seed(0)
config = InternVLConfig(
    vision_config=InternVLVisionConfig(
        hidden_size=32,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=(16, 16),
        patch_size=(4, 4),
    ),
    text_config=Qwen2Config(
        vocab_size=99,
        hidden_size=32,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        pad_token_id=0,
    ),
    image_token_id=90,
    image_seq_length=4,
)
model = InternVLModel(config).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (9, 12):
        ids = torch.randint(3, 80, (2, length))
        ids[:, 1:5] = 90
        step(input_ids=ids, pixel_values=torch.randn(2, 3, 16, 16)).last_hidden_state.sum().backward()


if __name__ == "__main__":
    main()
