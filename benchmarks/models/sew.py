import torch
from modeling_sew import SEWForSequenceClassification
from transformers import SEWConfig

torch.manual_seed(0)
model = SEWForSequenceClassification(
    SEWConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=40,
        conv_dim=(16, 16),
        conv_kernel=(8, 4),
        conv_stride=(4, 2),
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
        squeeze_factor=2,
        hidden_dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        feat_proj_dropout=0.0,
        final_dropout=0.0,
        layerdrop=0.1,
        mask_time_prob=0.3,
        mask_time_length=2,
    )
).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (400, 480):
        step(torch.randn(2, length), labels=torch.tensor([0, 1])).loss.backward()


if __name__ == "__main__":
    main()
