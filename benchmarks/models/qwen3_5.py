import torch
from modeling_qwen3_5 import Qwen3_5ForConditionalGeneration
from transformers import Qwen3_5Config

torch.manual_seed(0)
IMAGE = 90
config = Qwen3_5Config(
    text_config={
        "vocab_size": 99,
        "hidden_size": 32,
        "intermediate_size": 40,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "pad_token_id": 0,
        "head_dim": 8,
        "layer_types": ["full_attention", "linear_attention"],
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 1e4,
            "mrope_section": [2, 1, 1],
            "partial_rotary_factor": 1.0,
        },
    },
    vision_config={
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 40,
        "num_heads": 4,
        "patch_size": 4,
        "temporal_patch_size": 2,
        "spatial_merge_size": 2,
        "out_hidden_size": 32,
        "num_position_embeddings": 16,
    },
    image_token_id=IMAGE,
    video_token_id=91,
    vision_start_token_id=92,
    vision_end_token_id=93,
)
model = Qwen3_5ForConditionalGeneration(config).train()
step = torch.compile(model, backend="eager")


def main():
    for high, length in ((4, 10), (6, 14)):
        ids = torch.randint(3, 80, (1, length))
        ids[0, 1] = 92
        ids[0, 2 : 2 + high] = IMAGE
        step(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            mm_token_type_ids=(ids == IMAGE).int(),
            pixel_values=torch.randn(high * 4, 3 * 2 * 4 * 4),
            image_grid_thw=torch.tensor([[1, high, 4]]),
            labels=ids,
        ).loss.backward()


if __name__ == "__main__":
    main()
