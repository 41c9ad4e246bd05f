import torch
from modeling_mask2former import Mask2FormerForUniversalSegmentation
from transformers import Mask2FormerConfig, SwinConfig

torch.manual_seed(0)
config = Mask2FormerConfig(
    backbone_config=SwinConfig(
        image_size=32,
        embed_dim=16,
        depths=[1, 1, 1, 1],
        num_heads=[2, 2, 2, 2],
        window_size=2,
        drop_path_rate=0.0,
        out_features=["stage1", "stage2", "stage3", "stage4"],
    ),
    feature_size=32,
    mask_feature_size=32,
    hidden_dim=32,
    encoder_feedforward_dim=32,
    encoder_layers=2,
    decoder_layers=2,
    num_attention_heads=4,
    dim_feedforward=32,
    num_queries=5,
    num_labels=3,
)
model = Mask2FormerForUniversalSegmentation(config).train()
step = torch.compile(model, backend="eager")


def main():
    for batch in (1, 2):
        step(pixel_values=torch.randn(batch, 3, 64, 64)).class_queries_logits.sum().backward()


if __name__ == "__main__":
    main()
