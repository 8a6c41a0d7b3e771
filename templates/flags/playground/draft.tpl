% rebase("layout.tpl", title=title, live=False)
<h1>Evaluate the draft <span class="tag">{{target.environment}}</span></h1>
<p class="hint">Not saved. The result is for an enabled flag with this strategy.</p>
<p class="tags">
% for chip in chips:
<bdi class="tag">{{chip}}</bdi>
% end
</p>
% include("partials/problems.tpl")
<form method="post" action="{{url(action)}}">
% include("partials/csrf.tpl")
<input type="hidden" name="draft" value="{{draft}}">
<input type="hidden" name="strategy" value="{{strategy_id}}">
<div class="fields">
% include("partials/form_fields.tpl")
</div>
% include("partials/form_field.tpl", field=properties)
<button>Evaluate</button>
</form>
% if flag:
<section id="result" class="card">
<h2><bdi>{{flag.name}}</bdi> <strong class="tag {{"gets" if flag.state == "on" else "off"}}">{{flag.state}}</strong>
% if flag.variant:
<span class="tag">variant <bdi>{{flag.variant}}</bdi></span>
% end
</h2>
% include("flags/playground/reasons.tpl", flag=flag)
</section>
% end
