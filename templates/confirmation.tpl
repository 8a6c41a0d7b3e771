% rebase("layout.tpl", title=title, live=False)
<section id="question" aria-labelledby="question-title">
<h1 id="question-title"><bdi>{{confirmation.title}}</bdi></h1>
% include("partials/problems.tpl")
% for part in confirmation.body:
% if isinstance(part, str):
<p><bdi>{{part}}</bdi></p>
% elif part:
<ul>
% for text, path in part:
% if path:
<li><a href="{{url(path)}}"><bdi>{{text}}</bdi></a></li>
% else:
<li><bdi>{{text}}</bdi></li>
% end
% end
</ul>
% end
% end
% if confirmation.changes:
<ul class="changes">
% for mark, text in confirmation.changes:
% if mark == "del":
<li><del><bdi>{{text}}</bdi></del></li>
% elif mark == "ins":
<li><ins><bdi>{{text}}</bdi></ins></li>
% else:
<li><bdi>{{text}}</bdi></li>
% end
% end
</ul>
% end
% if confirmation.button:
<form method="post" action="{{action}}" id="question-form">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=confirmation.fields)
% for name, value in confirmation.hidden.items():
<input type="hidden" name="{{name}}" value="{{value}}">
% end
<p class="actions"><button class="{{"danger" if confirmation.is_dangerous else ""}}">{{confirmation.button}}</button>
<a href="{{url(confirmation.cancel_path)}}" data-cancel>{{confirmation.cancel}}</a></p>
</form>
% else:
<p><a href="{{url(confirmation.cancel_path)}}">{{confirmation.cancel}}</a></p>
% end
</section>
