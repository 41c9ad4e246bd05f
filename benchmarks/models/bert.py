import torch
from modeling_bert import BertLMHeadModel
from transformers import BertConfig

torch.manual_seed(0)
config = BertConfig(
    vocab_size=99,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=40,
    is_decoder=True,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
model = BertLMHeadModel(config).train()
step = torch.compile(model, backend="eager")


def main():
    for length in (9, 12):
        ids = torch.randint(3, 99, (2, length))
        step(input_ids=ids, labels=ids).loss.backward()


if __name__ == "__main__":
    main()
