% rebase("layout.tpl", title=title, live=False)
<h1><bdi>{{heading}}</bdi></h1>
% if intro:
<p class="hint">{{intro}}</p>
% end
<form method="post" action="{{url(path) if path else action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
% if sections:
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
% end
% include("partials/form_fields.tpl")
% for section in sections:
% include("partials/growing_section.tpl", section=section)
% end
<p class="actions save">
<button>{{button}}</button>
% if cancel_path:
<a href="{{url(cancel_path)}}">Cancel</a>
% end
</p>
</form>
% if rest:
% include(rest)
% end
% if deletion:
<section>
<h2>Delete</h2>
<p><a href="{{url(deletion[1])}}">{{deletion[0]}} …</a></p>
</section>
% end
