% wrong = [problem["message"] for problem in problems if problem.get("path") == name]
% hint = get("hint", "")
% described = [name + "-hint"] * bool(hint) + [name + "-problem"] * bool(wrong)
<div class="field">
<label for="{{name}}">{{label}}</label>
% if hint:
<p class="hint" id="{{name}}-hint">{{hint}}</p>
% end
% if wrong:
<p class="wrong" id="{{name}}-problem">{{" ".join(wrong)}}</p>
% end
<textarea id="{{name}}" name="{{name}}" rows="{{get("rows", 3)}}" spellcheck="false" aria-describedby="{{" ".join(described)}}" aria-invalid="{{'true' if wrong else 'false'}}">
{{value}}</textarea>
</div>
