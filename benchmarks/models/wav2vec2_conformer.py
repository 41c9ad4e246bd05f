import torch
from modeling_wav2vec2_conformer import Wav2Vec2ConformerForPreTraining
from transformers import Wav2Vec2ConformerConfig

torch.manual_seed(0)
model = Wav2Vec2ConformerForPreTraining(
    Wav2Vec2ConformerConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=40,
        conv_dim=(16, 16),
        conv_kernel=(8, 4),
        conv_stride=(4, 2),
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
        hidden_dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        feat_proj_dropout=0.0,
        final_dropout=0.0,
        feat_quantizer_dropout=0.0,
        conformer_conv_dropout=0.0,
        layerdrop=0.1,
        do_stable_layer_norm=True,
        mask_time_prob=0.3,
        mask_time_length=2,
        codevector_dim=8,
        num_codevectors_per_group=10,
        proj_codevector_dim=8,
    )
).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (400, 480):
        step(
            torch.randn(2, length), attention_mask=torch.ones(2, length, dtype=torch.long)
        ).projected_states.sum().backward()


if __name__ == "__main__":
    main()
