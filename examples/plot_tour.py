"""
A tour: three questions, and a motion
=====================================

Which law holds in a table? Which rows break it? Which class does a row belong to? What stays the
same along a motion? After this page you can ask each of these questions. The examples are from a
workshop that tests pumps. The page is also a notebook, ``examples/tour.ipynb``, which runs in less
than half a minute.
"""

# %%
# The table
# ---------
# A pump is run at different speeds against a valve. Each row has its speed (thousands of turns per
# minute), the flow (cubic metres per hour) and the pressure (kilopascal). Every reading is off by
# half a percent or so. We make the rows here, so that we know what should come out: the pressure is
# 60 times the squared speed minus 0.8 times the squared flow.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from vanishing import (
    OAVI,
    ConservedQuantities,
    LawFinder,
    VanishingClassifierCV,
    VanishingOutlierDetector,
)
from vanishing.plot import LawPredictionDisplay, OutlierDisplay, PhasePortraitDisplay


def readings(n_rows, head, loss, seed):
    """Return rows of a pump with a curve of its own."""
    rng = np.random.default_rng(seed)
    speed, flow = rng.uniform([1.0, 1.0], [3.0, 8.0], (n_rows, 2)).T
    rows = pd.DataFrame({"speed": speed, "flow": flow})
    rows["pressure"] = head * speed**2 - loss * flow**2
    return rows * (1 + 0.005 * rng.normal(size=rows.shape))


pump = readings(600, head=60, loss=0.8, seed=0)
pump.head(4).round(3)

# %%
# Which law holds?
# ----------------
# We give no form and no tolerance, only the column to explain. The digits in brackets are standard
# errors of the last digits before them.

finder = LawFinder().fit(pump[["speed", "flow"]], pump["pressure"])
print(finder.verdict_)

# %%
# Predicted pressures against measured ones:

LawPredictionDisplay.from_estimator(finder, pump[["speed", "flow"]], pump["pressure"])
plt.show()

# %%
# A law can be solved for any of its columns, and written as text, LaTeX or code:

law = finder.laws_[0]
print(law.solve("flow"))

# %%
# If no law holds, the answer says so. We shuffle the pressures of the same readings:

shuffled = pump["pressure"].sample(frac=1, random_state=0).reset_index(drop=True)
print(LawFinder().fit(pump[["speed", "flow"]], shuffled).verdict_)

# %%
# Which rows break it?
# --------------------
# The rows so far are from a day on which all gauges had been checked. The detector learns its laws
# from them, and about one row in a hundred may be a false alarm. A month later the speed or the
# pressure is off by a tenth in thirty rows. Hardly any of these values is unusual in itself, so
# looking at one column at a time shows little.

detector = VanishingOutlierDetector(false_alarm_rate=0.01, random_state=0).fit(pump)
print(*detector.laws_, sep="\n")

later = readings(600, head=60, loss=0.8, seed=1)
rng = np.random.default_rng(1)
wrong = rng.choice(len(later), 30, replace=False)
for row in wrong:
    later.loc[row, rng.choice(["speed", "pressure"])] *= rng.choice([0.9, 1.1])
alarms = np.flatnonzero(detector.predict(later) == -1)
print(f"{len(alarms)} alarms; {np.isin(wrong, alarms).sum()} of the 30 wrong rows are among them")

# %%
# The scores of the rows, and which columns could be to blame for the alarms:

OutlierDisplay.from_estimator(detector, later)
plt.show()

# %%
# Why was the first of them reported? The answer names the broken law, the columns that could be to
# blame, and the expected value of each:

worst = int(detector.score_samples(later).argmin())
reason = detector.explain(later.iloc[[worst]])[0][0]
print(reason["law"])
for column in reason["columns"]:
    print(f"{column}: {reason['found'][column]:.2f}, expected {reason['expected'][column]:.2f}")

# %%
# Which class is it?
# ------------------
# A second make of pump has another curve. Which make does a row come from? Speeds, flows and
# pressures of both overlap; their equations do not. The classifier finds equations of each class,
# gives their absolute values to a linear support vector machine, and chooses its parameters by
# cross-validation. We ask for equations with few terms, which can be read; by default it takes
# whatever tells the classes apart best.

both = pd.concat([pump, readings(600, head=52, loss=0.5, seed=2)], ignore_index=True)
make = np.repeat(["first", "second"], 600)
train = np.random.default_rng(3).random(len(both)) < 0.6
model = VanishingClassifierCV(OAVI(oracle="omp")).fit(both[train], make[train])
print(f"accuracy on {np.sum(~train)} new rows: {model.score(both[~train], make[~train]):.3f}")

# %%
# Why did a row get its class? The equations that mattered most come first, in the units of the
# columns:

pd.set_option("display.max_colwidth", None)
reasons = model.explain(both[~train][:1], n_generators=3, table=True)
reasons[["class", "equation", "contribution"]].round(2)

# %%
# What stays the same?
# --------------------
# The valve hangs on a spring that is stiffer the further it is pulled, so that wider swings are
# faster. There are ten swings, each with the place x and the velocity v at fifty moments.

swings = []
for run, start in enumerate(np.linspace(0.4, 2.0, 10)):
    motion = solve_ivp(
        lambda t, s: [s[1], -s[0] - 0.5 * s[0] ** 3],
        (0, 10),
        [start, 0.0],
        t_eval=np.linspace(0, 10, 50),
        rtol=1e-9,
    )
    swings.append(pd.DataFrame({"x": motion.y[0], "v": motion.y[1], "run": run}))
swings = pd.concat(swings, ignore_index=True)

conserved = ConservedQuantities(max_degree=4).fit(swings[["x", "v"]], groups=swings["run"])
print(conserved.verdict_)
print(*conserved.quantities_, sep="\n")

# %%
# That is the energy, up to a factor: half the squared velocity and the work of the spring. Each
# swing stays on one of its level curves:

PhasePortraitDisplay.from_estimator(conserved, swings[["x", "v"]], swings["run"])
plt.show()

# %%
# Go on
# -----
# Keep a model with ``save``, and read it again with ``vanishing.load``. Send it on as one HTML page
# with ``vanishing.report.write_report``. Or ask the same questions of a CSV file without any code:
# ``vanishing laws``, ``vanishing outliers``, ``vanishing fit`` and ``vanishing motion``.
