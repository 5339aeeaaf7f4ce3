import unittest

from fakes import GPU, Loopback, ScriptedMeter, counter, power
from tidewatt import AgentMeter, Device, MeterError, Reading, track
from tidewatt.meter import Integral, Sampler, parse_devices

METRICS = '''# TYPE tidewatt_agent_device_power_watts gauge
tidewatt_agent_device_power_watts{domain="gpu",index="0",uuid="GPU-1",model="H \\"100\\"",source="nvml",quality="measured"} 300.5
tidewatt_agent_device_power_watts{domain="node",index="0",uuid="",model="",source="ipmi",quality="measured"} 900
tidewatt_agent_device_energy_joules_total{domain="cpu_package",index="0",uuid="",model="",source="rapl",quality="measured"} 1000
tidewatt_agent_device_energy_joules_total{domain="cpu_package",index="1",uuid="",model="",source="rapl",quality="measured"} NaN
tidewatt_agent_source_up{source="nvml",state="up"} 1
'''
LONG = 3600  # an interval that no test waits for


def integral(*readings, **options):
    made = Integral()
    for reading in readings:
        made.add(reading, **options)
    return made.joules()


def both(at, watts, joules):
    return Reading(at, {GPU: watts}, {GPU: joules})


class IntegralTest(unittest.TestCase):
    def test_a_counter_counts_before_power(self):
        self.assertEqual(integral(both(0.0, 100.0, 50.0), both(10.0, 100.0, 850.0)), (800.0, []))

    def test_over_a_moment_power_counts_since_the_counter_is_read_every_so_often(self):
        self.assertEqual(integral(both(0.0, 100.0, 50.0), both(0.5, 100.0, 50.0)), (50.0, []))
        self.assertEqual(integral(both(0.0, 100.0, 50.0), both(0.5, 100.0, 250.0)), (50.0, []))
        self.assertEqual(integral(counter(0.0, 50.0), counter(0.5, 60.0)), (10.0, []))

    def test_power_is_the_mean_of_both_ends_times_time(self):
        self.assertEqual(integral(power(0.0, 100.0), power(10.0, 200.0)), (1500.0, []))
        self.assertEqual(integral(power(0.0, 100.0), power(1.0, 300.0), power(2.0, 100.0)), (400.0, []))

    def test_what_is_not_knowable_is_none_with_a_reason(self):
        self.assertEqual(integral(counter(0.0, 9.0), counter(5.0, 5.0)), (None, ["gpu 0: its counter was reset"]))
        self.assertEqual(integral(counter(0.0, 9.0), counter(5.0, 9.0)), (None, ["gpu 0: its counter was not read in between"]))
        self.assertEqual(integral(power(0.0, 9.0), Reading(1.0, {}, {})), (None, ["gpu 0: not read all the time"]))
        self.assertEqual(integral(Reading(0.0, {}, {}), Reading(1.0, {}, {})), (None, ["no device is read by the agent"]))
        self.assertEqual(integral(power(0.0, 1.0))[0], None)

    def test_a_counter_bridges_a_failure_and_power_does_not(self):
        self.assertEqual(integral(counter(0.0, 1.0), counter(9.0, 4.0), after_failure=True), (3.0, []))
        self.assertEqual(integral(power(0.0, 1.0), power(9.0, 4.0), after_failure=True), (None, ["gpu 0: the agent could not be read for a while"]))


class SamplerTest(unittest.TestCase):
    def test_pieces_follow_without_a_gap(self):
        sampler = Sampler(ScriptedMeter(counter(0.0, 0.0), counter(4.0, 10.0), counter(9.0, 30.0)), LONG)
        self.addCleanup(sampler.close)
        self.assertEqual([sampler.cut(), sampler.cut()], [(10.0, [], 4.0), (20.0, [], 5.0)])

    def test_a_piece_that_began_unread_is_unknown_and_the_next_one_is_not(self):
        sampler = Sampler(ScriptedMeter(MeterError("gone"), counter(4.0, 10.0), counter(9.0, 30.0)), LONG)
        self.addCleanup(sampler.close)
        self.assertEqual([sampler.cut(), sampler.cut()], [(None, ["gone"], None), (20.0, [], 5.0)])


class AgentMeterTest(unittest.TestCase):
    def test_reads_devices_and_leaves_the_whole_machine_out_where_parts_are_read(self):
        with Loopback({"GET /metrics": (200, METRICS, "text/plain")}) as agent:
            reading = AgentMeter(agent.url).read()
            self.assertEqual({d.domain for d in reading.devices()}, {"gpu", "cpu_package"})
            self.assertEqual(list(reading.watts.values()), [300.5])
            self.assertEqual(list(reading.joules.values()), [1000.0])
            self.assertEqual(list(AgentMeter(agent.url, domains=["node"]).read().watts.values()), [900.0])
            self.assertEqual(AgentMeter(agent.url, uuids=["GPU-9"]).read().devices(), frozenset())

    def test_the_whole_machine_counts_where_nothing_else_is_read(self):
        only = "\n".join(line for line in METRICS.splitlines() if 'domain="node"' in line) + "\n"
        with Loopback({"GET /metrics": (200, only, "text/plain")}) as agent:
            self.assertEqual(list(AgentMeter(agent.url).read().watts.values()), [900.0])

    def test_an_agent_that_is_not_there_says_so(self):
        with self.assertRaisesRegex(MeterError, "does not answer.*is tidewatt-agent running"):
            AgentMeter("http://127.0.0.1:9", timeout=2).read()
        with Loopback({}) as other:
            with self.assertRaisesRegex(MeterError, "answered 404"):
                AgentMeter(other.url).read()

    def test_labels_are_unescaped_and_odd_lines_left_out(self):
        text = 'f{domain="a\\\\b",index="0"} 1\nf{domain="c"} -1\nf{domain="d"} x\nf{domain="e"} inf\nfx{domain="g"} 1\n'
        self.assertEqual(parse_devices(text, "f"), {Device("a\\b", "0"): 1.0})


class TrackTest(unittest.TestCase):
    def test_a_block_has_its_energy_time_and_carbon(self):
        meter = ScriptedMeter(counter(0.0, 1000.0), counter(4.0, 3.601e6))
        with track("load", meter=meter, grams_per_kwh=400, interval=LONG) as used:
            pass
        self.assertEqual((used.energy_joules, used.seconds, used.carbon_grams, used.reason), (3.6e6, 4.0, 400.0, None))

    def test_without_a_factor_carbon_is_unknown(self):
        with track("load", meter=ScriptedMeter(counter(0.0, 1.0), counter(1.0, 2.0)), interval=LONG) as used:
            pass
        self.assertEqual((used.energy_joules, used.carbon_grams), (1.0, None))

    def test_an_agent_that_cannot_be_read_stops_nothing(self):
        for script in ([MeterError("gone")], [counter(0.0, 1.0), MeterError("gone")]):
            with track("load", meter=ScriptedMeter(*script), interval=LONG) as used:
                ran = True
            self.assertTrue(ran)
            self.assertEqual((used.energy_joules, used.reason), (None, "gone"))

    def test_exceptions_pass_and_the_energy_is_still_told(self):
        told = []
        with self.assertRaises(KeyError):
            with track("load", meter=ScriptedMeter(counter(0.0, 1.0), counter(1.0, 6.0)), interval=LONG, on_done=told.append):
                raise KeyError("x")
        self.assertEqual(told[0].energy_joules, 5.0)

    def test_as_a_decorator_each_call_is_measured(self):
        told = []

        @track("double", meter=ScriptedMeter(counter(0.0, 1.0), counter(1.0, 3.0), counter(2.0, 3.0), counter(3.0, 9.0)), interval=LONG, on_done=told.append)
        def double(x):
            """Twice x."""
            return 2 * x

        self.assertEqual((double(2), double(3)), (4, 6))
        self.assertEqual([used.energy_joules for used in told], [2.0, 6.0])
        self.assertEqual((double.__name__, double.__doc__), ("double", "Twice x."))

    def test_a_bare_decorator_takes_the_function_s_name(self):
        @track
        def work():
            return "done"

        self.assertEqual(work.__name__, "work")

    def test_power_is_read_in_between(self):
        import threading
        read_three = threading.Event()

        class Meter(ScriptedMeter):
            def read(self):
                reading = super().read()
                if len(self._left) == 1:
                    read_three.set()
                return reading

        meter = Meter(power(0.0, 100.0), power(1.0, 300.0), power(2.0, 100.0), power(2.0, 100.0))
        with track("load", meter=meter, interval=0.001) as used:
            self.assertTrue(read_three.wait(10))
        self.assertEqual((used.energy_joules, used.seconds), (400.0, 2.0))


if __name__ == "__main__":
    unittest.main()
