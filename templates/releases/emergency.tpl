% rebase("layout.tpl", title=title, live=False)
<h1>Emergency</h1>
<p class="hint">Nothing has changed yet. Choose what to do, check the list, then act.</p>
<form method="post" action="{{action}}" id="emergency">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<input type="hidden" name="list" value="{{list_version}}">
<button class="hidden" tabindex="-1" aria-hidden="true" name="do" value="show">Show</button>
% include("partials/form_fields.tpl", fields=fields)
% if not identity.has_permission("ADMIN"):
<p class="muted">Freeze releases, pause automation: an admin can.</p>
% end
<section id="changes">
<div class="heading">
<h2>What will change</h2>
<button class="quiet" name="do" value="show">Show what changes</button>
</div>
% include("releases/emergency_changes.tpl", changes=changes)
</section>
<p class="actions"><button class="danger" name="do" value="act">Act now</button>
<a href="{{url('/')}}">Cancel</a></p>
</form>
