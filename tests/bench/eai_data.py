"""Data of our own in the form of the Embodied Agent Interface: two rooms, four programs."""

import json
from pathlib import Path

from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.vocabulary import Property, Relation, State

HALL, STUDY, ME, LAMP, BOOK, DESK, CURTAIN = 10, 11, 65, 1000, 1001, 1002, 179
GOALS = {
    'Turn on light': {
        '1_1': {
            'vh_goal': {
                'actions': ['TOUCH|PUSH'],
                'goal': [
                    {'id': LAMP, 'class_name': 'lamp', 'state': 'ON'},
                    {'id': LAMP, 'class_name': 'lamp', 'state': 'ON'},
                ],
            },
            'tl_goal': '(exists x0. ((TOUCH(x0) or PUSH(x0))) then ON(lamp.1000))',
        },
        '2_1': {'vh_goal': {'actions': [], 'goal': []}, 'tl_goal': None},
    },
    'Read book': {
        '3_2': {
            'vh_goal': {
                'actions': ['GRAB', 'READ|LOOKAT'],
                'goal': [
                    {'from_id': ME, 'relation_type': 'HOLDS_RH', 'to_id': BOOK},
                    {'from_id': ME, 'relation_type': 'INSIDE', 'to_id': STUDY},
                ],
            },
            'tl_goal': '(HOLDS_RH(character.65, book.1001) and INSIDE(character.65, study.11))',
        },
        '688_1': {
            'vh_goal': {
                'actions': [],
                'goal': [{'from_id': ME, 'relation_type': 'HOLDS_LH', 'to_id': BOOK}],
            },
            'tl_goal': 'HOLDS_LH(character.65, book.1001)',
        },
    },
}
PROGRAMS = {
    '1_1': ('[WALK] <lamp> (1.1000)', '[TOUCH] <lamp> (1.1000)', '[SWITCHON] <lamp> (1.1000)'),
    '2_1': ('[WALK] <lamp> (1.1000)',),
    '3_2': ('[FIND] <book> (1.1001)', '[GRAB] <book> (1.1001)', '[READ] <book> (1.1001)'),
    '688_1': ('[FIND] <book> (1.1001)', '[GRAB] <book> (1.1001)', '[GRAB] <book> (1.1001)'),
}


def house() -> Graph:
    """Return a hall with a person, and a study whose curtains are inside each other."""
    graph = Graph()
    for node in (
        Node(HALL, 'hall', 'Rooms'),
        Node(STUDY, 'study', 'Rooms'),
        Node(ME, 'character', 'Characters'),
        Node(LAMP, 'lamp', 'Lamps', None, frozenset({Property.HAS_SWITCH}), {State.OFF}),
        Node(BOOK, 'book', 'Props', None, frozenset({Property.GRABBABLE, Property.READABLE})),
        Node(DESK, 'desk', 'Furniture', None, frozenset({Property.SURFACES})),
        Node(CURTAIN, 'curtain', 'Decor'),
        Node(CURTAIN + 1, 'curtain', 'Decor'),
    ):
        graph.nodes[node.id] = node
    for item in (LAMP, BOOK, DESK, CURTAIN, CURTAIN + 1):
        graph.add(item, Relation.INSIDE, STUDY)
    graph.add(ME, Relation.INSIDE, HALL)
    graph.add(BOOK, Relation.ON, DESK)
    graph.add_both_ways(CURTAIN, Relation.INSIDE, (CURTAIN + 1,))
    return graph


def write_eai(folder: Path) -> Path:
    """Write the data into a folder as the package has them; return the folder."""
    goals = folder / 'resources/virtualhome/task_state_LTL_formula_accurate.json'
    goals.parent.mkdir(parents=True)
    goals.write_text(json.dumps({'scene_1': GOALS}))
    data = folder / 'dataset/programs_processed_precond_nograb_morepreconds'
    for kind in ('init_and_final_graphs', 'executable_programs'):
        (data / kind / 'TrimmedTestScene1_graph/results_intentions_march-13-18').mkdir(
            parents=True
        )
    first, final = house(), house()
    final.nodes[LAMP].states = {State.ON}
    for file_id, lines in PROGRAMS.items():
        (graph,) = data.glob('init*/*/*')
        text = json.dumps({'init_graph': first.to_dict(), 'final_graph': final.to_dict()})
        (graph / f'file{file_id}.json').write_text(text)
        (program,) = data.glob('exec*/*/*')
        text = '\n'.join(['A title', 'Somebody does it.', '', '', *lines])
        (program / f'file{file_id}.txt').write_text(text)
    return folder
