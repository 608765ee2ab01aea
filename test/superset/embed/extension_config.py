"""Lets Superset load the extensions of a folder, among them agentd's launcher: no template, no change of its policy.

Run it as the last thing in superset_config.py, in that file's own namespace; then `superset init` once, as for every
setting that brings new permissions.

Environment:
    AGENTD_EMBED_EXTENSIONS  the folder that holds agentd-launcher.supx
"""

import os

FEATURE_FLAGS = {**globals().get("FEATURE_FLAGS", {}), "ENABLE_EXTENSIONS": True}
EXTENSIONS_PATH = os.environ["AGENTD_EMBED_EXTENSIONS"]
