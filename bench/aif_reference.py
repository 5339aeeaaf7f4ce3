#!/usr/bin/python3
"""The formulas of docs/method/active-inference.md in NumPy, as plainly as they are written there: what the engine is timed and checked beside.

aif_reference.py run FILE            runs a model file in compat mode and prints G, q_pi and beliefs as JSON
aif_reference.py time FILE [STEPS]   CPU per step of a bench model
"""
import json
import sys
import time

import numpy as np

EPS, SUPPORT = 1e-16, np.exp(-16)


def array(value):
    return None if value is None else np.array(value["data"], dtype=float).reshape(value["shape"])


def arrays(values):
    return None if values is None else [array(v) for v in values]


def ln(x):
    return np.log(x + EPS)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def outer(vectors):
    product = np.ones(())
    for v in vectors:
        product = np.multiply.outer(product, v)
    return product


def contract(tensor, vectors):
    """Sums the trailing axes of `tensor` over the outer product of `vectors`."""
    return np.tensordot(tensor, outer(vectors), axes=len(vectors))


class Reference:
    def __init__(self, model, policies, gamma=16.0, params=None):
        params = params or {}
        self.p, self.gamma, self.policies = params, gamma, policies
        self.sees, self.drivers = model["A_factor_list"], model["B_factor_list"]
        self.pa, self.pb, self.pd = (arrays(model.get(k)) for k in ("pA", "pB", "pD"))
        self.a = [x / x.sum(0) for x in self.pa] if self.pa else arrays(model["A"])
        self.b = [x / x.sum(0) for x in self.pb] if self.pb else arrays(model["B"])
        states = [b.shape[0] for b in self.b]
        d = arrays(model.get("D"))
        self.d = d or ([x / x.sum() for x in self.pd] if self.pd else [np.full(n, 1 / n) for n in states])
        self.c = arrays(model["C"])
        e = array(model.get("E"))
        self.e = np.full(len(policies), 1 / len(policies)) if e is None else e
        self.begin()

    def begin(self):
        self.qs = self.action = None

    def move(self, qs, controls):
        return [contract(b[..., u], [qs[g] for g in drv]) for b, u, drv in zip(self.b, controls, self.drivers)]

    def observe(self, y):
        """Fixed-point iteration; y is one distribution per modality."""
        self.before = self.qs
        self.prior = self.d if self.qs is None else self.move(self.qs, self.action)
        logs = [ln(np.tensordot(dist, a, axes=1)) for dist, a in zip(y, self.a)]
        log_prior = [ln(p) for p in self.prior]
        inner = self.p.get("inference_params", {})
        q = [np.full(len(p), 1 / len(p)) for p in self.prior]

        def message(f):
            total = np.zeros(len(q[f]))
            for log, sees in zip(logs, self.sees):
                if f in sees:
                    at = sees.index(f)
                    total += contract(np.moveaxis(log, at, 0), [q[g] for g in sees if g != f])
            return total

        def energy(likelihood=True):
            value = sum(x @ ln(x) - x @ lp for x, lp in zip(q, log_prior))
            return value - sum(contract(log, [q[g] for g in sees]) for log, sees in zip(logs, self.sees)) if likelihood else value

        if len(q) == 1:
            q = [softmax(message(0) + log_prior[0])]
        else:
            last, change, done = energy(False), inner.get("dF", 1.0), 0
            while done < inner.get("num_iter", 10) and change >= inner.get("dF_tol", 1e-3):
                q = [softmax(message(f) + log_prior[f]) for f in range(len(q))]
                now = energy()
                if inner.get("compute_vfe", True):
                    change = abs(last - now)
                last, done = now, done + 1
        self.qs, self.y = q, y

    def learn(self):
        learn = self.p.get("learn", [])
        every = lambda key, i: self.p.get(key, "all") == "all" or i in self.p[key]  # noqa: E731
        if "A" in learn:
            for m, sees in enumerate(self.sees):
                if every("modalities_to_learn", m):
                    more = np.multiply.outer(self.y[m], outer([self.qs[f] for f in sees]))
                    self.pa[m] = self.pa[m] + self.p["lr_pA"] * more * (self.pa[m] > 0)
                    self.a[m] = self.pa[m] / self.pa[m].sum(0)
        if "B" in learn and self.before is not None:
            for f, drv in enumerate(self.drivers):
                if every("factors_to_learn", f):
                    counts = self.pb[f][..., self.action[f]]
                    more = np.multiply.outer(self.qs[f], outer([self.before[g] for g in drv]))
                    counts += self.p["lr_pB"] * more * (counts > 0)
                    self.b[f] = self.pb[f] / self.pb[f].sum(0)

    @staticmethod
    def weights(counts):
        return (1 / (counts + EPS).sum(0) - 1 / (counts + EPS)) * (counts > 0)

    def plan(self):
        use = lambda key, otherwise: self.p.get(key, otherwise)  # noqa: E731
        log_c = [ln(np.apply_along_axis(softmax, 0, c)) for c in self.c]
        self.g = np.zeros(len(self.policies))
        for index, policy in enumerate(self.policies):
            qs = self.qs
            for tau, controls in enumerate(policy):
                before, qs = qs, self.move(qs, controls)
                for m, (a, sees) in enumerate(zip(self.a, self.sees)):
                    joint = outer([qs[f] for f in sees])
                    o = np.tensordot(a, joint, axes=joint.ndim)
                    if use("use_utility", True):
                        self.g[index] += o @ (log_c[m] if log_c[m].ndim == 1 else log_c[m][:, tau])
                    if use("use_states_info_gain", True):
                        kept = np.where(joint > SUPPORT, joint, 0)
                        seen = np.tensordot(a, kept, axes=joint.ndim)
                        self.g[index] += (kept * (a * np.log(a + SUPPORT)).sum(0)).sum() - seen @ ln(seen)
                    if use("use_param_info_gain", False) and self.pa:
                        self.g[index] -= o @ np.tensordot(self.weights(self.pa[m]), joint, axes=joint.ndim)
                if use("use_param_info_gain", False) and self.pb:
                    for f, drv in enumerate(self.drivers):
                        w = self.weights(self.pb[f])[..., controls[f]]
                        self.g[index] -= qs[f] @ contract(w, [before[g] for g in drv])
        self.q_pi = softmax(self.gamma * self.g + ln(self.e))
        return self.g

    def best_action(self):
        best = []
        for f in range(len(self.b)):
            p = np.bincount(self.policies[:, 0, f], weights=self.q_pi, minlength=self.b[f].shape[-1])
            best.append(int(p.argmax()))
        return best

    def end(self, first):
        if "D" in self.p.get("learn", []):
            subset = self.p.get("factors_to_learn", "all")
            for f, q in enumerate(first):
                if subset == "all" or f in subset:
                    self.pd[f] = self.pd[f] + self.p["lr_pD"] * q * (self.pd[f] > 0)
            self.d = [x / x.sum() for x in self.pd]


def all_policies(controls, length):
    axes = [np.arange(n) for _ in range(length) for n in controls]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, length, len(controls))


def one_hot(obs, sizes):
    return [np.eye(n)[o] for o, n in zip(obs, sizes)]


def run(file):
    params = file["params"]
    policies = array(file["policies"]).astype(int)
    agent = Reference(file["model"], policies, params["gamma"], params)
    sizes = [a.shape[0] for a in agent.a]
    episodes = []
    for episode in file["episodes"]:
        agent.begin()
        steps = []
        for step in episode["steps"]:
            agent.observe(one_hot(step["obs"], sizes) if "obs" in step else arrays(step["obs_dist"]))
            if not steps:
                first = agent.qs
            agent.learn()
            agent.plan()
            steps.append({"qs": [q.tolist() for q in agent.qs], "G": agent.g.tolist(), "q_pi": agent.q_pi.tolist()})
            agent.action = step["action"]
        agent.end(first)
        episodes.append({"steps": steps})
    return {"episodes": episodes}


def timed(file, steps):
    """@return CPU microseconds of each step after the first, and the sum of G at the first and last step."""
    agent = Reference(file, all_policies(file["num_controls"], file["policy_len"]), file["gamma"])
    sizes = [a.shape[0] for a in agent.a]
    costs, sums = [], []
    for t in range(steps):
        start = time.process_time()
        agent.observe(one_hot(file["obs"][t % len(file["obs"])], sizes))
        agent.plan()
        agent.action = agent.best_action()
        costs.append((time.process_time() - start) * 1e6)
        sums.append(float(agent.g.sum()))
    return costs[1:] or costs, [sums[0], sums[-1]]


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("run", "time"):
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[2], encoding="utf-8") as handle:
        file = json.load(handle)
    if sys.argv[1] == "run":
        print(json.dumps(run(file)))
    else:
        costs, sums = timed(file, int(sys.argv[3]) if len(sys.argv) > 3 else 4)
        print(json.dumps({"cpu_us_per_step_min": min(costs), "cpu_us_per_step_median": sorted(costs)[len(costs) // 2], "g_sum": sums}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
