% id = get("id") or name
% wrong = [problem["message"] for problem in problems if problem.get("path") == id]
% kind, hint, required, autocomplete = get("kind", "text"), get("hint", ""), get("required", False), get("autocomplete", "off")
% described = [id + "-hint"] * bool(hint) + [id + "-problem"] * bool(wrong)
<div class="field">
<label for="{{id}}">{{label}}</label>
% if hint:
<p class="hint" id="{{id}}-hint">{{hint}}</p>
% end
% if wrong:
<p class="wrong" id="{{id}}-problem">{{" ".join(wrong)}}</p>
% end
<input id="{{id}}" name="{{name}}" type="{{kind}}" value="{{value}}" autocomplete="{{autocomplete}}" aria-describedby="{{" ".join(described)}}" aria-invalid="{{'true' if wrong else 'false'}}" {{"required" if required else ""}}\\
% for attribute in ("list", "min", "max", "step"):
% if get(attribute) is not None:
 {{attribute}}="{{get(attribute)}}"\\
% end
% end
>
</div>
