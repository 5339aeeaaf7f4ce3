"""tidewatt predict as a person calls it: files in, JSON, text or picture out, one clear line when it can't."""
import gzip
import json
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

STEADY = [9000, 10010, 9990, 10005, 9995] + [10000] * 100


def text_of(joules, seconds=10, first=1):
    head = "epoch,energy_j,seconds\n" if seconds else "epoch,energy_j\n"
    return head + "".join(f"{number},{energy}{f',{seconds}' if seconds else ''}\n" for number, energy in enumerate(joules, first))


@pytest.fixture
def predict(tidewatt, tmp_path):
    """Writes the file and runs `tidewatt predict` on it."""
    def run(text, *arguments, name="epochs.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return subprocess.run([tidewatt, "predict", "--epochs", str(path), *arguments], capture_output=True, text=True, timeout=60, check=False)
    return run


def answer(told):
    assert told.returncode == 0, told.stderr
    assert told.stderr == ""
    return json.loads(told.stdout)


def refusal(told, code=1):
    assert told.returncode == code, told
    assert told.stdout == "" and told.stderr.count("\n") == 1
    return told.stderr


def test_five_epochs_tell_the_next_hundred(predict):
    said = answer(predict(text_of(STEADY), "--train", "5", "--horizon", "100", "--json"))
    assert said["predicted_energy_j"] == pytest.approx(1e6, rel=1e-3)
    low, high = said["interval_90_j"]
    assert 0 < low < said["predicted_energy_j"] < high
    assert said["per_epoch_j"] == pytest.approx(said["predicted_energy_j"] / 100)
    assert said["predicted_seconds"] == pytest.approx(1000)
    assert said["actual_energy_j"] == 1e6 and said["error_percent"] < 0.1
    assert said["model"]["warm_up_epochs"] == 1 and said["model"]["epochs_used"] == 4


def test_rows_after_train_change_nothing(predict):
    first = answer(predict(text_of(STEADY[:5]), "--json"))
    second = answer(predict(text_of(STEADY[:5] + [1] * 30), "--json"))
    assert first["predicted_energy_j"] == second["predicted_energy_j"]
    assert first["error_percent"] is None and first["actual_energy_j"] is None


def test_gzip_standard_input_and_no_seconds(predict, tidewatt):
    plain = answer(predict(text_of(STEADY[:5], seconds=None), "--json"))
    assert plain["predicted_seconds"] is None
    packed = answer(predict(gzip.compress(text_of(STEADY[:5], seconds=None).encode()), "--json", name="epochs.csv.gz"))
    assert packed["predicted_energy_j"] == plain["predicted_energy_j"]
    piped = subprocess.run([tidewatt, "predict", "--epochs", "-", "--json"], input=text_of(STEADY[:5], seconds=None), capture_output=True, text=True, timeout=60, check=False)
    assert answer(piped)["predicted_energy_j"] == plain["predicted_energy_j"]


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_few_rows_are_answered_and_noted(predict, rows):
    said = answer(predict(text_of(STEADY[:rows]), "--json"))
    assert said["train"] == rows and any("asks for 5 rows" in note for note in said["notes"])
    assert said["predicted_energy_j"] == pytest.approx(1e6, rel=2e-3)


def test_an_unknown_value_is_noted_not_zero(predict):
    said = answer(predict("epoch,energy_j\n1,100\n2,NaN\n3,100\n4,100\n5,\n", "--horizon", "10", "--json"))
    assert said["predicted_energy_j"] == pytest.approx(1000, rel=1e-4)
    assert any("2 rows without energy" in note for note in said["notes"])


def test_a_restart_from_a_checkpoint_is_noted(predict):
    said = answer(predict("epoch,energy_j\n1,100\n2,100\n3,100\n2,100\n3,100\n", "--horizon", "10", "--json"))
    assert any("counts back" in note for note in said["notes"])


@pytest.mark.parametrize("text, what", [
    ("epoch,energy_j\n1,100\n", "1 epoch with energy: too few"),
    ("", "the file is empty"),
    ("epoch,energy_j\n", "no epoch after the first line"),
    ("time,joules\n1,2\n", 'no column "epoch"'),
    ("epoch,energy_j\n1,1e300\n2,1\n", "line 2: energy_j 1e300 is not within"),
    ("epoch,energy_j\n1,5\n2,-5\n", "line 3: energy_j -5"),
    ("epoch,energy_j\n1,5\n2\n", "line 3: 1 cells"),
    ("epoch,energy_j\n1,x\n", 'line 2: energy_j "x" is no number'),
    (b"\x00\x01\x02\xff\n", "no column"),
    (gzip.compress(b"epoch,energy_j\n1,5\n" * 50)[:-20], "gzip data is damaged or cut off"),
])
def test_a_file_that_cannot_be_used_is_one_line(predict, text, what):
    assert what in refusal(predict(text, "--json"))


def test_a_missing_file_is_one_line(tidewatt):
    told = subprocess.run([tidewatt, "predict", "--epochs", "/nowhere/epochs.csv"], capture_output=True, text=True, timeout=60, check=False)
    assert "/nowhere/epochs.csv: No such file" in refusal(told)


@pytest.mark.parametrize("arguments", [["--horizon", "0"], ["--train", "0"], ["--horizon", "many"], ["--update-every", "0"]])
def test_wrong_use_exits_2(predict, arguments):
    refusal(predict(text_of(STEADY), *arguments), code=2)


def test_earlier_runs_make_the_floor(predict, tmp_path):
    earlier = tmp_path / "earlier.csv"
    earlier.write_text(text_of([100] * 5 + [110] * 20))
    said = answer(predict(text_of([100] * 5), "--horizon", "20", "--earlier", str(earlier), "--json"))
    assert said["model"]["floor_source"] == "1 earlier run"
    assert said["model"]["floor_percent"] == pytest.approx(6.314 * 100 / 11, rel=1e-3)  # t(1) x 9.09 %
    assert said["model"]["interval_by"] == "floor"


def test_the_text_says_what_was_done(predict):
    evaluated = [100, 100, 100, 140] * 3
    told = predict(text_of(evaluated + [100] * 4), "--train", "12", "--horizon", "4")
    assert told.returncode == 0
    assert "evaluation       every 4 epochs" in told.stdout and "it came to" in told.stdout and "fitted to" in told.stdout


def test_the_plot_is_an_svg_with_the_interval(predict, tmp_path):
    picture = tmp_path / "p.svg"
    told = predict(text_of(STEADY), "--plot", str(picture))
    assert told.returncode == 0, told.stderr
    root = ElementTree.parse(picture).getroot()
    assert root.tag.endswith("svg") and "nan" not in picture.read_text() and 'class="band"' in picture.read_text()
    assert "can't be written" in refusal(predict(text_of(STEADY), "--plot", str(tmp_path / "no" / "p.svg")))
