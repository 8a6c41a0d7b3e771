<section id="tags">
<h2>Tags</h2>
% if feature["tags"]:
<ul class="names">
% for tag in feature["tags"]:
% text = tag["type"] + ":" + tag["value"]
<li>
% if may_edit:
<form method="post" action="{{url(here + '/tags/remove')}}" class="inline">
% include("partials/csrf.tpl")
<input type="hidden" name="tag" value="{{text}}">
<span class="badge"><bdi>{{text}}</bdi></span> <button class="quiet" aria-label="Remove the tag {{text}}">Remove</button>
</form>
% else:
<span class="badge"><bdi>{{text}}</bdi></span>
% end
</li>
% end
</ul>
% else:
<p class="muted">None.</p>
% end
% if may_edit:
<form method="post" action="{{url(here + '/tags')}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="tag", label="New tag", value=values["tag"], required=True, hint="Like type:value, such as simple:checkout.")
<button class="quiet">Add tag</button>
</form>
% end
</section>
