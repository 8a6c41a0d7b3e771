% wrong = [problem["message"] for problem in problems if problem.get("path") == name]
% kind, hint, required, autocomplete = get("kind", "text"), get("hint", ""), get("required", False), get("autocomplete", "off")
<div class="field">
<label for="{{name}}">{{label}}</label>
% if hint:
<p class="hint" id="{{name}}-hint">{{hint}}</p>
% end
% if wrong:
<p class="wrong" id="{{name}}-problem">{{" ".join(wrong)}}</p>
% end
<input id="{{name}}" name="{{name}}" type="{{kind}}" value="{{value}}" autocomplete="{{autocomplete}}" aria-describedby="{{name}}-hint {{name}}-problem" aria-invalid="{{'true' if wrong else 'false'}}" {{"required" if required else ""}}>
</div>
