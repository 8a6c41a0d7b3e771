<div class="check">
<input type="checkbox" id="{{name}}" name="{{name}}" value="{{get("value", "on")}}" {{"checked" if checked else ""}}>
<label for="{{name}}">{{label}}</label>
</div>
