<span class="tag {{release["style"]}}"><span aria-hidden="true">{{release["icon"]}}</span> {{release["word"]}}</span>\\
