import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):  # recompile
        return self.drop(self.fc(x))


def main():
    teacher, student = Net().eval(), Net()
    t, s = torch.compile(teacher), torch.compile(student)
    for p in teacher.parameters():
        p.requires_grad_(False)
    for step in range(3):
        x = torch.randn(2, 4)
        with torch.no_grad():
            target = t(x)
        (s(x) - target).pow(2).mean().backward()
        student.eval()
        with torch.inference_mode():  # recompile
            s(x)
        student.train()


main()
