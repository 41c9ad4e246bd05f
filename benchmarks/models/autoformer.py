import torch
from modeling_autoformer import AutoformerForPrediction
from transformers import AutoformerConfig

torch.manual_seed(0)
model = AutoformerForPrediction(
    AutoformerConfig(
        prediction_length=4,
        context_length=8,
        label_length=4,
        moving_average=5,
        lags_sequence=[1, 2, 3],
        num_time_features=2,
        d_model=16,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=20,
        decoder_ffn_dim=20,
        dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        encoder_layerdrop=0.2,
        decoder_layerdrop=0.2,
    )
).train()
step = torch.compile(model, backend="eager")


def main():
    for batch in (3, 4):
        step(
            past_values=torch.rand(batch, 11),
            past_time_features=torch.rand(batch, 11, 2),
            past_observed_mask=torch.ones(batch, 11),
            future_values=torch.rand(batch, 4),
            future_time_features=torch.rand(batch, 4, 2),
        ).loss.backward()


if __name__ == "__main__":
    main()
