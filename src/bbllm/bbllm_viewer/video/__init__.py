"""Videos of episodes: the arm beside its plan, from journal and motion."""
