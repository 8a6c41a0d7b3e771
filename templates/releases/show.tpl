% rebase("layout.tpl", title=title, live=is_live)
<h1><bdi>{{title}}</bdi></h1>
% include("releases/freeze.tpl", freeze=freeze)
<div id="release" data-live>
% include("releases/panel.tpl", release=release)
<section>
<h2>Log</h2>
<ul class="rows">
% for event in events:
<li><time datetime="{{event['createdAt']}}">{{event["createdAt"][:19].replace("T", " ")}} UTC</time> <bdi>{{event["text"]}}</bdi> <span class="muted">by <bdi>{{event["actor"]}}</bdi></span></li>
% end
</ul>
</section>
</div>
