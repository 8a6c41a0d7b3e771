<form method="post" action="{{url(*place, 'off' if is_on else 'on')}}">
% include("partials/csrf.tpl")
<button role="switch" aria-checked="{{'true' if is_on else 'false'}}" aria-label="{{name}}">{{words[0] if is_on else words[1]}}</button>
</form>
