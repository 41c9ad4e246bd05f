import torch
from modeling_qwen3_vl import Qwen3VLForConditionalGeneration
from transformers import Qwen3VLConfig

torch.manual_seed(0)
IMAGE = 90
config = Qwen3VLConfig(
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
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]},
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
        "deepstack_visual_indexes": [0, 1],
    },
    image_token_id=IMAGE,
    video_token_id=91,
    vision_start_token_id=92,
    vision_end_token_id=93,
)
model = Qwen3VLForConditionalGeneration(config).train()
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
