<section id="tags">
<h2>Tags</h2>
% if tags:
<ul class="names">
% for tag in tags:
<li>
% if can_edit:
<form method="post" action="{{url(path, 'tags', 'remove')}}" class="inline">
% include("partials/csrf.tpl")
<input type="hidden" name="tag" value="{{tag}}">
<bdi>{{tag}}</bdi> <button class="quiet" aria-label="Remove tag {{tag}}">✕</button>
</form>
% else:
<bdi>{{tag}}</bdi>
% end
</li>
% end
</ul>
% else:
<p class="muted">No tags</p>
% end
% if can_edit:
<form method="post" action="{{url(path, 'tags')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=tag_fields)
<button class="quiet">Add tag</button>
</form>
% end
</section>
