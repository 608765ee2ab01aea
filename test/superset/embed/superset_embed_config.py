"""Puts the agentd assistant on Superset's pages. Tried on Apache Superset 6.1.0.

Run it as the last thing in superset_config.py, in that file's own namespace:

    import os
    _agentd = os.path.join(os.environ["AGENTD_EMBED_DIR"], "superset_embed_config.py")
    exec(compile(open(_agentd).read(), _agentd, "exec"))

Environment:
    AGENTD_EMBED_ORIGIN  origin of agentd when it is not Superset's own, e.g. "https://agentd.bi.example.com";
                         empty: a reverse proxy serves AGENTD_EMBED_PATH on Superset's host, and the CSP stays as it is
    AGENTD_EMBED_PATH    path of agentd there; default "/" with an own origin, else "/agentd/" (below SUPERSET_APP_ROOT,
                         because Superset's session cookie has that path)
    AGENTD_EMBED_SECRET  only with an own origin: adds GET /agentd-handover, which signs for the logged-in user a token
                         of 60 s (HS256) that agentd swaps for its own session; 32 bytes or more
    AGENTD_EMBED_SECRET_FILE  the same, in a file
    AGENTD_EMBED_TEMPLATE  "0": no template, where the launcher comes as an extension; it reads the rest from the page
"""

import os
import sys


def _agentd_embed(config):
    from copy import deepcopy

    from jinja2 import ChoiceLoader, FileSystemLoader

    origin = os.environ.get("AGENTD_EMBED_ORIGIN", "").rstrip("/")
    root = (os.environ.get("SUPERSET_APP_ROOT") or config.get("APPLICATION_ROOT") or "/").rstrip("/")
    path = os.environ.get("AGENTD_EMBED_PATH") or ("/" if origin else root + "/agentd/")
    base = (origin + "/" + path.strip("/")).rstrip("/") + "/"
    secret = _agentd_secret() if origin else ""
    templates = os.path.join(os.path.dirname(os.path.abspath(sys._getframe().f_code.co_filename)), "templates")
    mutate_before = config.get("FLASK_APP_MUTATOR")
    bootstrap_before = config.get("COMMON_BOOTSTRAP_OVERRIDES_FUNC")

    def mutate(app):
        if mutate_before:
            mutate_before(app)
        app.jinja_loader = ChoiceLoader([FileSystemLoader(templates), app.jinja_loader])
        app.jinja_env.globals["agentd_embed"] = {"base": base, "handover": bool(secret)}

    def bootstrap(data):
        own = {"base": base, "handover": root + "/agentd-handover"} if secret else {"base": base}
        return {**(bootstrap_before(data) if bootstrap_before else {}), "agentd": own}

    if os.environ.get("AGENTD_EMBED_TEMPLATE", "1") != "0":
        config["FLASK_APP_MUTATOR"] = mutate
    config["COMMON_BOOTSTRAP_OVERRIDES_FUNC"] = bootstrap

    if origin:
        # A setting replaces Superset's whole dict, so start from the values that are in force.
        defaults = vars(sys.modules["superset.config"])  # being imported at this moment
        for name in ("TALISMAN_CONFIG", "TALISMAN_DEV_CONFIG"):
            talisman = deepcopy(config.get(name) or defaults[name])
            csp = talisman.get("content_security_policy")
            if isinstance(csp, dict):
                frames = csp.get("frame-src") or csp.get("child-src") or csp.get("default-src") or ["'self'"]
                frames = frames.split() if isinstance(frames, str) else list(frames)
                csp["frame-src"] = [f for f in frames if f != "'none'"] + [origin]
            elif csp and origin not in csp:
                raise ValueError(f"{name}: the policy is a string, add 'frame-src {origin}' to it by hand")
            config[name] = talisman

    if secret:
        config["BLUEPRINTS"] = [*config.get("BLUEPRINTS", []), _agentd_handover(origin, secret)]


def _agentd_secret():
    file = os.environ.get("AGENTD_EMBED_SECRET_FILE", "")
    if file:
        with open(file, encoding="utf-8") as f:
            secret = f.read().rstrip("\r\n")
    else:
        secret = os.environ.get("AGENTD_EMBED_SECRET", "")
    if secret and len(secret.encode()) < 32:
        raise ValueError("AGENTD_EMBED_SECRET is shorter than 32 bytes")
    return secret


def _agentd_handover(origin, secret):
    import time
    import uuid

    import jwt
    from flask import Blueprint, jsonify, request
    from flask_login import current_user

    blueprint = Blueprint("agentd_handover", __name__)

    @blueprint.get("/agentd-handover")
    def handover():
        from superset import security_manager  # not there yet while the configuration is read

        foreign = request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin"
        if foreign or not current_user.is_authenticated or getattr(current_user, "is_guest_user", False):
            answer = jsonify(message="Not authorized")
            answer.status_code = 401
        else:
            now = int(time.time())
            claims = {"sub": current_user.username, "uid": current_user.id, "name": current_user.get_full_name(),
                      "roles": sorted({role.name for role in security_manager.get_user_roles(current_user)}),
                      "aud": origin, "iss": "superset", "iat": now, "exp": now + 60, "jti": uuid.uuid4().hex}
            answer = jsonify(token=jwt.encode(claims, secret, algorithm="HS256"))
        answer.headers["Cache-Control"] = "no-store"
        return answer

    return blueprint


_agentd_embed(globals())
