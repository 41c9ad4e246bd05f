import torch


class Pendulum:
    def __init__(self, n, dt):
        self.theta = torch.linspace(0.1, 1.0, n)
        self.omega = torch.zeros(n)
        self.dt = dt

    @torch.compile(fullgraph=True)
    def dynamics(self, theta, omega):
        omega = omega - 9.8 * torch.sin(theta) * self.dt
        return theta + omega * self.dt, omega

    def step(self):
        self.theta, self.omega = self.dynamics(self.theta, self.omega)


def main():
    for dt in (0.01, 0.02, 0.05, 0.1):
        sim = Pendulum(5, dt)
        for _ in range(10):
            sim.step()
        print(dt, sim.theta.mean().item())


if __name__ == "__main__":
    main()
