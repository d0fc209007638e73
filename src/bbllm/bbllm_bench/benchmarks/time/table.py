"""The figures: what is measured beside what, and the goals."""

from bbllm_bench.benchmarks.time.figures import Figure, Goal, Of

FIGURES = (
    Figure(
        key='moving', title='moving time of a pick and place', unit='s', centre='mean',
        beside='time-optimal bound, legal limits', reference='bound',
        same_cases=True,
        goals=(Goal(Of.RATIO, 1.25),),
    ),
    Figure(
        key='share', title='the same, which uses 80 % of the limits', unit='s', centre='mean',
        beside='time-optimal bound, 80 % of the limits', reference='bound',
        same_cases=True,
    ),
    Figure(
        key='cycle', title='whole cycle of a pick and place', unit='s', centre='mean',
        beside='time-optimal bound, legal limits', reference='bound',
        same_cases=True,
        goals=(Goal(Of.RATIO, 1.6),),
    ),
    Figure(
        key='task', title='task of ten steps, each mapped by the Body', unit='s', centre='mean',
        beside="Brain's first step + motion", reference='bound', goals=(Goal(Of.RATIO, 1.1),),
    ),
    Figure(
        key='calls', title='task of ten steps that are calls', unit='s', centre='mean',
        beside="Brain's first step + motion", reference='bound', goals=(Goal(Of.RATIO, 1.1),),
    ),
    Figure(
        key='overhead', title='overhead of a step over DDS', unit='ms', tail=True,
        beside='bare rclpy action accepted', reference='machine',
        goals=(Goal(Of.RATIO, 3.0), Goal(Of.VALUE, 15.0)),
    ),
    Figure(
        key='physics', title='simulated / processor time, one process', unit='x',
        beside='raw mj_step, asleep', reference='machine', more_is_better=True,
        same_cases=True,
        goals=(Goal(Of.VALUE, 60.0, at_least=True),),
    ),
    Figure(
        key='fast', title='simulated / wall time, five nodes, speed:=0', unit='x',
        beside='raw mj_step, asleep', reference='machine', more_is_better=True,
        goals=(Goal(Of.VALUE, 15.0, at_least=True),),
    ),
    Figure(
        key='idle', title='cores used by an idle stack', unit='cores', centre='mean',
        beside='one core', reference='bound', goals=(Goal(Of.VALUE, 0.08),),
    ),
    Figure(
        key='fast-one', title='simulated / wall time, --one-process, speed:=0', unit='x',
        beside='raw mj_step, asleep', reference='machine', more_is_better=True,
        goals=(Goal(Of.VALUE, 15.0, at_least=True),),
    ),
    Figure(
        key='idle-one', title='cores used by an idle stack, --one-process', unit='cores',
        centre='mean', beside='one core', reference='bound', goals=(Goal(Of.VALUE, 0.08),),
    ),
    Figure(
        key='plan', title='plan of a pick, processor time', unit='ms', tail=True,
        beside='fixed work in NumPy', reference='machine',
        same_cases=True,
        goals=(Goal(Of.VALUE, 4.0), Goal(Of.P95, 8.0)),
    ),
    Figure(
        key='reach', title='reachability query, processor time', unit='ms', tail=True,
        beside='fixed work in NumPy', reference='machine',
        same_cases=True,
        goals=(Goal(Of.VALUE, 0.25), Goal(Of.P95, 0.6)),
    ),
    Figure(
        key='ready', title='bbllm up sim to ready', unit='s',
        beside='import of rclpy and MuJoCo', reference='machine', goals=(Goal(Of.VALUE, 4.0),),
    ),
    Figure(
        key='help', title='bbllm --help, processor time', unit='s',
        beside='python -c pass', reference='machine', goals=(Goal(Of.VALUE, 0.3),),
    ),
    Figure(
        key='episodes', title='bench tabletop, two processes', unit='episodes a minute',
        beside='fixed work in NumPy, thousands a minute', reference='machine',
        more_is_better=True, goals=(Goal(Of.VALUE, 300.0, at_least=True),),
    ),
)  # fmt: skip
