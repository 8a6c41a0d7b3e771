<div class="notice" id="notice" role="status"><p>{{notice}}</p>
% if undo:
<form method="post" action="{{url(undo.path)}}" data-swap="{{undo.swap}}">
% include("partials/csrf.tpl")
% for name, value in undo.fields.items():
<input type="hidden" name="{{name}}" value="{{value}}">
% end
<button class="quiet">{{undo.label}}</button>
</form>
% end
</div>
