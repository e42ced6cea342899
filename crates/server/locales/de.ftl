# Jeder Satz der Seiten auf Deutsch. `en.ftl` hat dieselben Kennungen in derselben Reihenfolge.

## Zeit

moment = { $day }. { $month ->
    [1] Januar
    [2] Februar
    [3] März
    [4] April
    [5] Mai
    [6] Juni
    [7] Juli
    [8] August
    [9] September
    [10] Oktober
    [11] November
   *[12] Dezember
  } { $year }, { $clock } UTC
duration-days = { $count ->
    [one] 1 Tag
   *[other] { $count } Tage
  }
duration-hours = { $count ->
    [one] 1 Stunde
   *[other] { $count } Stunden
  }
duration-minutes = { $count ->
    [one] 1 Minute
   *[other] { $count } Minuten
  }
duration-seconds = { $count ->
    [one] 1 Sekunde
   *[other] { $count } Sekunden
  }

## Auf jeder Seite

skip-to-content = Zum Inhalt springen
nav-label = Hauptnavigation
nav-inbox = Eingang
nav-agents = Ihre Agenten
nav-account = Konto
nav-sign-in = Anmelden
footer = Agenten unterschreiben. Menschen zeichnen gegen.
footer-label = Zu dieser Seite
error-heading = Es gibt ein Problem
error-title = Fehler: { $title }
error-form-expired = Dieses Formular war zu lange offen; es wurde nichts geändert. Bitte sehen Sie es noch einmal an und senden Sie es erneut.
agents-may = Was er darf

## Anmelden

sign-in-heading = Bei { $service } anmelden
sign-in-lead = Hier entscheiden Sie, welche KI-Agenten für Sie handeln dürfen.
sign-in-username = Benutzername
sign-in-password = Passwort
sign-in-submit = Anmelden
confirm-heading = Bestätigen Sie, dass Sie es sind
confirm-lead = Sie sind bereits angemeldet. Der nächste Schritt ist so wichtig, dass wir noch einmal nach Ihrem Passwort fragen.
confirm-account = Konto
confirm-submit = Bestätigen
sign-in-error-username = Geben Sie Ihren Benutzernamen ein.
sign-in-error-password = Geben Sie Ihr Passwort ein.
sign-in-error-wrong = Der Benutzername oder das Passwort stimmt nicht.
sign-in-error-too-many = Es gab zu viele Versuche. Versuchen Sie es wieder nach: { $duration }.
signed-out = Sie sind abgemeldet.
signed-out-everywhere = Sie sind auf allen Geräten abgemeldet.

## Einen Agenten verbinden

connect-title = { $domain } verbinden?
connect-before = Möchten Sie, dass ein Agent von
connect-after = { $service } für Sie benutzt?
connect-verified = Geprüfte Domain
connect-verified-how = Wer diese Anfrage stellt, hat bewiesen, dass er diese Domain in der Hand hat.
connect-unicode = Anderswo erscheint sie vielleicht als
connect-calls-itself = Er nennt sich
connect-name-proves-nothing = Jeden Namen kann sich jeder geben. Geprüft ist nur die Domain.
connect-warnings-heading = Sehen Sie sich diese Domain genau an
connect-may-heading = Was er darf
connect-mode-heading = Wie er handelt
connect-lasts-heading = Wie lange
connect-lasts = { $duration } ab Ihrer Zustimmung
connect-ends = Sie können es jederzeit auf der Seite „Ihre Agenten“ beenden. Dann ist sofort Schluss; was vorher getan wurde, bleibt getan.
connect-liability-heading = Wenn etwas schiefgeht
connect-acknowledge = Ich habe das gelesen
connect-acknowledge-hint = Das brauchen Sie nur, um zuzustimmen, nicht um abzulehnen.
connect-then-callback = Nach Ihrer Antwort kehren Sie zu { $host } zurück.
connect-then-code = Nach Ihrer Zustimmung bekommen Sie einen Code, den Sie dem Agenten geben.
connect-approve = Zustimmen
connect-deny = Ablehnen
connect-answer-by = Sie können antworten bis
connect-signed-in-as = Sie entscheiden als { $person }.
connect-not-you = Sind Sie das nicht?
connect-error-not-acknowledged = Um zuzustimmen, bestätigen Sie, dass Sie den Text unter „Wenn etwas schiefgeht“ gelesen haben.
connect-error-changed = An dieser Anfrage hat sich etwas geändert, seit Sie sie gesehen haben; es wurde nichts erlaubt. Bitte lesen Sie sie noch einmal.
scope-includes = Umfasst
scope-never = Niemals
scope-irreversible = Nicht rückgängig zu machen
scope-undo = Kann zurückgenommen werden: { $duration } lang
scope-requires-confirmation = Jedes Mal ist vorher eine Bestätigung nötig
scope-not-offered = Diese Berechtigung gibt es nicht mehr; sie öffnet nichts.
liability-by-operator = In den Worten von { $domain }
liability-by-service = In den Worten von { $service }
warning-looks-like-connected = Das ist nicht { $domain }, mit der Sie verbunden sind, sieht aber so aus.
warning-looks-like-service = Das ist nicht { $domain }, der Dienst, den Sie benutzen, sieht aber so aus.
warning-embeds = Sie enthält { $domain }, gehört aber nicht dazu. Wem eine Domain gehört, sagt ihr Ende.
warning-mixed-scripts = „{ $label }“ mischt Buchstaben verschiedener Alphabete; das geschieht oft, um zu täuschen: { $letters }.
warning-reads-as-latin = Sie liest sich wie „{ $latin }“, ist aber mit Buchstaben eines anderen Alphabets geschrieben: { $letters }.
warning-name-claims-domain = Der Name, den er sich gibt, enthält { $domain }; das ist eine andere Domain.

## Nach der Antwort

connected-title = Verbunden: noch ein Schritt
connected-heading = Geben Sie dem Agenten diesen Code
connected-lead = Sie haben { $domain } zugestimmt. Der Agent kann beginnen, sobald er diesen Code hat.
connected-code = Einmalcode
connected-copy = Code kopieren
connected-copied = Kopiert
connected-step-copy = Kopieren Sie den Code.
connected-step-paste = Fügen Sie ihn dort ein, wo der Agent Sie danach gefragt hat, und nirgends sonst.
connected-step-leave = Das ist alles. Sie können diese Seite schließen.
connected-once = Er gilt einmal, 10 Minuten lang, und wird nicht wieder gezeigt. Gültig bis
connected-manage = Diese Verbindung ansehen oder beenden
connect-denied-title = Abgelehnt
connect-denied-what = { $domain } wurde nicht verbunden und bekommt keinen Zugang.
connect-denied-next = Sie können diese Seite schließen. Der Agent kann nur mit einer neuen Anfrage wieder fragen.
connect-expired-title = Diese Anfrage ist abgelaufen
connect-expired-what = Eine Anfrage kann 10 Minuten lang beantwortet werden. Es wurde nichts erlaubt.
connect-expired-next = Wenn Sie es noch möchten, beginnen Sie beim Agenten von vorn.
connect-answered-title = Schon beantwortet
connect-answered-what = Diese Anfrage ist beantwortet, und eine Antwort zählt einmal.
connect-answered-next = Auf der Seite „Ihre Agenten“ sehen Sie, was verbunden ist.
connect-gone-title = Keine solche Anfrage
connect-gone-what = Unter dieser Adresse gibt es keine offene Anfrage. Es wurde nichts erlaubt.
connect-gone-next = Prüfen Sie die Adresse, oder beginnen Sie beim Agenten von vorn.

## Eingang

inbox-title = Eingang
inbox-title-waiting = Eingang: { $count ->
    [one] 1 Frage wartet
   *[other] { $count } Fragen warten
  }
inbox-lead = Was Agenten von Ihnen wissen wollen, bevor sie weitermachen. Eine Antwort zählt einmal, und nur, bevor ihre Zeit um ist.
inbox-none-heading = Es wartet nichts auf Sie
inbox-none = Wenn ein Agent Sie etwas fragt, erscheint es hier.
inbox-waiting = Wartet auf eine Antwort
inbox-open = Lesen und antworten
inbox-open-of = Lesen und antworten: { $who }, { $what }
inbox-error-nothing-chosen = Wählen Sie, ob es ausgeführt wurde oder nicht.
inbox-error-no-reason = Sagen Sie, wie Sie es herausgefunden haben, mit höchstens 4.096 Zeichen.
inbox-error-not-entitled = Was daraus geworden ist, dürfen Sie nicht festhalten. Das tut jemand, der es genehmigen darf und nicht die Person ist, für die der Agent handelt. Es wurde nichts geändert.
inbox-error-known = Was daraus geworden ist, wurde inzwischen festgehalten; es wurde nichts geändert.
live-label = Neuigkeiten
live-off = Diese Seite erneuert sich nicht von selbst.
live-on = Neue Fragen werden hier gemeldet, sobald sie kommen.
live-reload = Neu laden
live-new = Eine neue Frage wartet.
live-read = Lesen
live-accepted = Eine Frage auf dieser Seite wurde mit Ja beantwortet.
live-rejected = Eine Frage auf dieser Seite wurde mit Nein beantwortet.
live-answered = Eine Frage auf dieser Seite wurde beantwortet.
live-expired = Die Zeit für eine Frage auf dieser Seite ist um.
live-cancelled = Eine Frage auf dieser Seite wurde zurückgezogen. Sie braucht keine Antwort mehr.
live-gone = Eine Frage auf dieser Seite ist nicht mehr offen.
asked-by-operator = Geprüfte Domain dessen, der diesen Agenten betreibt
asked-by-key = Ein Agent mit einem API-Schlüssel dieses Dienstes
asked-words-agent = In den eigenen Worten des Agenten. Niemand hat sie geprüft.
asked-words-service = Von { $service } aus der Anfrage erstellt
asked-action = Was er tun will
asked-consequence = Was das bewirkt
asked-summary = Zusammenfassung
asked-question = Was er wissen will
asked-context = Zusammenhang
asked-tool = Werkzeug, das benutzt würde:
asked-method = Methode der Anfrage
asked-target = Adresse, an die sie geht
asked-content-type = Art ihres Inhalts
asked-body-bytes = Größe ihres Inhalts in Bytes
asked-body-hash = SHA-256 ihres Inhalts
asked-requested-by = Angefragt von
asked-cut = Hier gekürzt; auf der Seite der Frage steht alles.
call-heading-request = Wird ebenfalls gesendet
call-heading-tool = Was ausgeführt wird
call-source-request = Aus der Anfrage selbst gelesen, nicht aus den Worten des Agenten. Werte des Absenders stehen in Anführungszeichen.
call-source-tool = Aus dem Aufruf selbst gelesen, nicht aus den Worten des Agenten. Werte des Absenders stehen in Anführungszeichen.
call-no-arguments = Es wird ohne Argumente aufgerufen.
call-place-path = Pfad
call-place-query = Abfrage
call-place-header = Kopfzeile
call-place-content-type = Inhaltstyp
call-place-body = Inhalt
call-place-argument = Argument
call-place-tool = Werkzeug
call-place-step = Schritt { $number }, { $place }
call-lookalike = Zweimal hinsehen: { $place } enthält Buchstaben eines anderen Alphabets, die gewöhnlichen gleichen: { $letters }.
call-reads-as = Es liest sich wie { $word }, ist es aber nicht.
call-alike = { $count ->
    [one] Eine andere Frage in dieser Liste liest sich gleich. Was an dieser anders ist:
   *[other] { $count } andere Fragen in dieser Liste lesen sich gleich. Was an dieser anders ist:
}
call-alike-same = { $count ->
    [one] Eine andere Frage in dieser Liste liest sich gleich und lässt genau dasselbe laufen.
   *[other] { $count } andere Fragen in dieser Liste lesen sich gleich und lassen genau dasselbe laufen.
}
question-technical = Technische Einzelheiten
question-digest = SHA-256 von allem, was läuft
asked-risk-high = Hohes Risiko
asked-risk-medium = Mittleres Risiko
asked-risk-low = Geringes Risiko
asked-irreversible = Nicht rückgängig zu machen
asked-reversible-with-effort = Mit Aufwand rückgängig zu machen
asked-reversible = Kann rückgängig gemacht werden
asked-left = Restzeit
asked-left-note = als diese Seite geöffnet wurde
asked-deadline = Antworten Sie vor
asked-unanswered = Wenn niemand antwortet
asked-last-ran = Genau dasselbe wurde zuletzt ausgeführt
asked-yes-means = Mit Ihrem Ja darf genau das einmal ausgeführt werden, binnen: { $duration }.
asked-unanswered-rejected = Es wird nicht ausgeführt.
asked-unanswered-accepted = Es darf ausgeführt werden; festgehalten wird dann, dass niemand geantwortet hat.
asked-unanswered-response = Der Agent macht mit dieser Antwort weiter: { $response }
asked-unanswered-unavailable = Dem Agenten wird gesagt, dass es keine Antwort gibt.
question-title = { $who } fragt: { $what }
question-back = Alles, was wartet
question-id = Nummer dieser Frage
question-answer-heading = Ihre Antwort
question-reason = Grund für ein Nein (freiwillig)
question-reason-hint = Der Agent bekommt ihn zu lesen. Ein Ja kann keine Bedingungen haben: Wenn Sie etwas anderes wollen, sagen Sie Nein.
question-reject = Ablehnen
question-accept = Annehmen
question-no-only = Ihr Ja zählt hier nicht: Jemand anderes muss das genehmigen. Ihr Nein zählt.
question-one-of = Antworten Sie auf eine dieser Arten.
question-text = Ihre Antwort in Worten
question-number = Ihre Antwort als Zahl
question-yes-no = Ja oder Nein
question-yes = Ja
question-no = Nein
question-choices = Wählen Sie eines
question-send = Antwort senden
question-send-of = Antwort senden: { $what }
question-prove-first = Das ist so wichtig, dass Ihre Antwort nur zählt, wenn Sie gerade erst Ihr Passwort eingegeben haben.
question-prove = Bestätigen, dass Sie es sind
question-not-here = Das verlangt einen stärkeren Nachweis, wer Sie sind, als diese Seite annehmen kann. Sie können es hier lesen, aber nicht beantworten.
question-nothing = Sie dürfen das lesen, aber Ihre Antwort würde nicht zählen.
question-more-heading = Brauchen Sie mehr Zeit?
question-more-until = Sie können sie haben bis
question-more = { $duration } mehr
question-became-heading = Was daraus geworden ist
question-runs-heading = Was ausgeführt wird
question-reason-given = Der Grund:
question-response-given = Die Antwort:
question-notice-more-time = Jetzt ist mehr Zeit. Alle, die gefragt wurden, erfahren es.
question-notice-reconciled = Es ist festgehalten, was daraus geworden ist.
question-error-changed = An dieser Frage hat sich etwas geändert, seit Sie sie gesehen haben; Ihre Antwort hat nicht gezählt. Bitte lesen Sie sie noch einmal.
question-error-settled = Ihre Antwort hat nicht gezählt: Die Frage war schon erledigt, als sie kam. Unten steht, was daraus geworden ist.
question-error-too-late = Ihre Antwort hat nicht gezählt: Sie kam, als die Zeit um war.
question-error-not-entitled = Ihre Antwort hat nicht gezählt: Sie dürfen das nicht entscheiden.
question-error-not-allowed = Ihre Antwort hat nicht gezählt: Diese Frage nimmt sie nicht an.
question-error-reason-too-long = Der Grund ist zu lang. Er hat höchstens 4.096 Zeichen.
question-error-no-number = Geben Sie eine Zahl ein, etwa 42 oder 3,5.
question-error-no-text = Geben Sie eine Antwort ein, mit höchstens 4.096 Zeichen.
question-error-no-choice = Wählen Sie eine der Antworten.
became-open = Es wartet auf eine Antwort.
became-over = Die Zeit für eine Antwort ist um.
became-accepted-you = Sie haben es angenommen.
became-accepted-other = Jemand anderes, der das entscheiden darf, hat es angenommen.
became-rejected-you = Sie haben es abgelehnt.
became-rejected-other = Jemand anderes, der das entscheiden darf, hat es abgelehnt.
became-answered-you = Sie haben geantwortet.
became-answered-other = Jemand anderes hat geantwortet.
became-expired = Niemand hat rechtzeitig geantwortet.
became-withdrawn = Es wurde zurückgezogen. Es braucht keine Antwort mehr.
became-session-over = Die Sitzung des Agenten ist vorbei. Es braucht keine Antwort mehr.
became-revoked = Der Agent wurde abgeschaltet. Es braucht keine Antwort mehr.
became-word-open = Wartet
became-word-expired = Zeit um
became-word-accepted = Angenommen
became-word-rejected = Abgelehnt
became-word-answered = Beantwortet
became-word-withdrawn = Zurückgezogen
became-word-over = Erledigt
expired-as-rejected = Also wird es nicht ausgeführt.
expired-as-accepted = Also darf es ausgeführt werden, wie es die Regel für diese Handlung sagt; festgehalten ist, dass niemand geantwortet hat.
expired-as-response = Also macht der Agent mit dieser Antwort weiter: { $response }
expired-as-unavailable = Also wurde dem Agenten gesagt, dass es keine Antwort gibt.
runs-may = Genau das darf einmal ausgeführt werden, bis
runs-lapsed = Es wurde nicht ausgeführt: Niemand hat das Ja rechtzeitig benutzt. Es verfiel am
runs-cancelled = Es darf nicht mehr ausgeführt werden. Das Ja wurde aufgehoben am
runs-begun = Es hat begonnen, und der Agent soll sagen, was daraus wird, bis
runs-begun-gateway = Die Anfrage wurde abgeschickt, und ihre Antwort wird erwartet bis
runs-ran-agent = Es wurde ausgeführt, wie der Agent sagt, am
runs-ran-gateway = Es wurde ausgeführt: Der Dienst hinter dem Gateway hat es gemeldet am
runs-ran-upstream = Es wurde ausgeführt: Der Dienst hinter dem Gateway hat es auf Nachfrage gemeldet am
runs-ran-you = Es wurde ausgeführt, wie Sie herausgefunden haben am
runs-ran-other = Es wurde ausgeführt, wie jemand anderes herausgefunden hat am
runs-failed-agent = Es ist gescheitert, wie der Agent sagt, am
runs-failed-gateway = Es ist gescheitert, wie das Gateway gesehen hat, am
runs-failed-upstream = Es wurde nicht ausgeführt: Der Dienst hinter dem Gateway hat es auf Nachfrage gemeldet am
runs-failed-you = Es wurde nicht ausgeführt, wie Sie herausgefunden haben am
runs-failed-other = Es wurde nicht ausgeführt, wie jemand anderes herausgefunden hat am
runs-released = Es wurde weitergegeben, und die Wirkung wurde nicht beobachtet. Das war am
runs-unknown = Niemand weiß, ob es ausgeführt wurde: Es hat begonnen, und nichts wurde mehr davon gehört seit
unreported-heading = Wurde das ausgeführt?
unreported-lead = All das wurde erlaubt und begonnen, und niemand hat gesagt, was daraus geworden ist. Es wird nicht noch einmal versucht. Finden Sie es heraus, und halten Sie es fest.
unreported-word = Ausgang unbekannt
unreported-begun = Begonnen
unreported-since = Nichts gehört seit
unreported-asked-until = Der Dienst wird gefragt bis
unreported-asked = Der Dienst dahinter wird gefragt, ob es ausgeführt wurde. Warten Sie auf seine Antwort, oder finden Sie es selbst heraus: Was Sie festhalten, beendet die Nachfrage.
unreported-question = Die Frage und ihre Antwort
unreported-question-of = Die Frage und ihre Antwort: { $what }
unreported-what = Was ist geschehen?
unreported-ran = Es wurde ausgeführt
unreported-did-not = Es wurde nicht ausgeführt
unreported-reason = Wie Sie es herausgefunden haben
unreported-submit = Festhalten
unreported-not-yours = Jemand anderes als Sie muss festhalten, was daraus geworden ist.

## Pläne und offene Jas

asked-words-plan = Von { $service } aus dem Plan erstellt. Was in Anführungszeichen steht, sind die eigenen Worte des Agenten.
became-called-off-you = Sie haben es abgesagt. Es braucht keine Antwort mehr.
became-called-off-other = Jemand anderes, der das entscheiden darf, hat es abgesagt. Es braucht keine Antwort mehr.
became-word-called-off = Abgesagt
difference-heading = Das ist nicht, was der genehmigte Plan sagt
difference-plan = Der Plan und wie weit er ist
question-arguments = Womit genau das Werkzeug aufgerufen wird
question-locked = Gesperrt
question-locked-for-you = Diese Genehmigung ist gesperrt: Sie nimmt keine Entscheidung an, bis sie entsperrt wird oder jemand entscheidet, der sich darüber hinwegsetzen darf.
question-override = Trotz der Sperre entscheiden
question-open-heading = Was Ihr Ja noch erlaubt
question-open-take-back = Zurücknehmen
question-error-locked = Ihre Antwort hat nicht gezählt: Diese Genehmigung ist gesperrt. Wenn Sie das Recht dazu haben, sagen Sie, dass Sie trotzdem entscheiden.
question-error-out-of-bounds = Ihre Antwort hat nicht gezählt. Die Regeln sagen: { $why }
more-heading = Mehr als nur dieses eine Mal erlauben
more-lead = Ihr Ja gilt dann auch für weitere Aufrufe derselben Art durch diesen Agenten. Alles bleibt genau, wie es gezeigt wird, außer einem Betrag, für den Sie hier eine Grenze angeben. Sie können es jederzeit zurücknehmen.
more-uses = Wie oft
more-uses-hint = { $count ->
    [one] Höchstens einmal, auch wenn Sie das leer lassen.
   *[other] Höchstens { $count }-mal, auch wenn Sie das leer lassen.
  }
more-minutes = Wie viele Minuten lang
more-minutes-hint = Höchstens { $count }. Wenn Sie das leer lassen: { $duration }.
more-amount = { $name }: jetzt { $amount }
more-amount-hint = Wenn Sie diese Felder leer lassen, bleibt es genau { $amount }.
more-each = Jedes Mal bis zu
more-each-in = Jedes Mal bis zu, in { $unit }
more-sum = Insgesamt bis zu
more-sum-in = Insgesamt bis zu, in { $unit }
more-unit = Worin es gezählt wird
more-unit-none = Ohne Einheit (dann gibt es keine Summe)
more-unit-of = Wie { $name } sagt, jetzt { $unit }
more-fixed = Das ist nicht rückgängig zu machen und hat hohes Risiko; deshalb bleibt alles, wie es gezeigt wird.
more-submit = In diesen Grenzen annehmen
more-error-empty = Sagen Sie, wie oft, wie lange oder bis zu welchem Betrag. Für genau dieses eine Mal gibt es „Annehmen“.
more-error-uses = Geben Sie als ganze Zahl an, wie oft; so oft, wie es hier erlaubt ist.
more-error-minutes = Geben Sie als ganze Zahl an, wie viele Minuten; so viele, wie hier erlaubt sind.
more-error-amount = Geben Sie einen Betrag in Ziffern an, etwa 500 oder 500,00.
more-error-too-small = Das muss mindestens { $amount } sein, sonst wäre nicht einmal erlaubt, worum es jetzt geht.
more-error-no-unit = Eine Summe braucht eine Einheit: Wählen Sie, worin sie gezählt wird.
more-error-refused = Ihre Antwort hat nicht gezählt. Die Regeln sagen: { $why }
bound-most = höchstens { $most }
bound-between = { $least } bis { $most }
bound-one-of = nur eines von { $choices }
bound-text = { $count ->
    [one] ein Text aus 1 Zeichen
   *[other] ein Text aus höchstens { $count } Zeichen
  }
bound-sum = , und insgesamt höchstens { $sum }
planned-heading = Der Plan
planned-title = Wie der Agent ihn nennt
planned-objective = Wozu er dient
planned-reason = Warum der Agent fragt
planned-asking-role = Gefragt in der Rolle
planned-changes = Was sich geändert hat, seit Sie zuletzt gefragt wurden
planned-unchanged = Nichts hat sich geändert, seit Sie zuletzt gefragt wurden.
planned-choose = Welche Schritte dürfen ausgeführt werden?
planned-step = Schritt { $number }
planned-words-owner = Was ausgeführt würde, in den Worten des Dienstes
planned-words-call = Was ausgeführt würde: der Aufruf selbst
planned-uses = { $count ->
    [one] Einmal.
   *[other] Bis zu { $count }-mal.
  }
planned-asks-again = Sie werden vor jedem Aufruf noch einmal gefragt.
planned-all-arguments = Alles, womit Schritt { $number } aufgerufen wird
planned-runs-nothing = Ihr Ja lässt für diesen Schritt nichts laufen: Er ist Sache des Agenten.
planned-after = Erst nach Schritt { $steps }.
planned-role = Für die Rolle { $role }
planned-yes-means = Mit Ihrem Ja dürfen die angekreuzten Schritte ohne weitere Frage ausgeführt werden, ab dann { $duration } lang, jeder so oft, wie er sagt, und in seinen Grenzen. Alles andere wird weiterhin gefragt.
planned-accept = Angekreuzte Schritte genehmigen
planned-page = Der Plan und wie weit er ist
planned-error-no-step = Kreuzen Sie mindestens einen Schritt an, oder lehnen Sie den Plan ab.
planned-error-needs = Schritt { $step } geht erst nach Schritt { $needs }: Kreuzen Sie auch den an, oder lassen Sie beide weg.
inbox-yeses = { $count ->
    [0] Offene Jas: keine
   *[other] Offene Jas: { $count }
  }
account-allowances = Offene Jas ansehen und zurücknehmen
allowances-title = Offene Jas
allowances-lead = Was Agenten tun dürfen, ohne noch einmal zu fragen, weil jemand zu mehr als einem Aufruf Ja gesagt hat.
allowances-none-heading = Kein Ja ist offen
allowances-none = Was immer ein Agent tun will, Sie werden vorher gefragt, wenn die Regeln des Dienstes nichts anderes sagen.
allowances-taken-back = Es ist zurückgenommen. Seinetwegen wird nichts mehr ausgeführt.
allowances-error-nothing-left = Es ist nichts mehr davon da, was sich zurücknehmen ließe: Es ist verbraucht, vorbei oder schon zurückgenommen.
allowances-error-not-yours = Dieses Ja dürfen Sie nicht zurücknehmen. Es wurde nichts geändert.
allowances-plan = Der Plan
allowances-plan-of = Der Plan: { $title }
allowance-open = Offen
allowance-left = Noch zu benutzen: { $left } von { $uses }.
allowance-sum-left = { $left } von { $limit } übrig
allowance-until = Bis
allowance-reason = Grund (freiwillig)
allowance-take-back-of = Zurücknehmen: { $what }
allowance-take-back-step = Schritt { $number } zurücknehmen: { $what }
plan-title = Plan „{ $title }“: { $status }
plan-by = Ein Plan von
plan-progress-label = Wie weit er ist
plan-progress = { $done } von { $all } Schritten erledigt
plan-until = Seine Schritte dürfen ausgeführt werden bis
plan-feedback = Warum er an den Agenten zurückging
plan-steps = Schritte
plan-step-progress = { $done } von { $uses } Aufrufen erledigt
plan-step-under-way = { $count ->
    [one] 1 Aufruf läuft gerade.
   *[other] { $count } Aufrufe laufen gerade.
  }
plan-step-lost = { $count ->
    [one] 1 Aufruf wurde verbraucht, ohne dass er erledigt ist.
   *[other] { $count } Aufrufe wurden verbraucht, ohne dass sie erledigt sind.
  }
plan-left = Was er noch ausführen darf
plan-events = Was zuletzt geschah
plan-no-events = Noch nichts.
plan-event-plan = Der Plan: { $status }
plan-event-step = Schritt { $number }: { $status }
plan-take-back-heading = Alles zurücknehmen
plan-take-back-lead = Von diesem Plan wird dann nichts mehr ausgeführt. Was gerade läuft, lässt sich nicht anhalten, und was getan ist, bleibt getan.
plan-take-back = Den ganzen Plan zurücknehmen
plan-taken-back = Der Plan ist zurückgenommen. Nichts mehr davon wird ausgeführt.
plan-error-nothing-left = Es gibt nichts zurückzunehmen: Der Plan läuft nicht.
plan-id = Nummer dieses Plans
plan-status-draft = Entwurf
plan-status-proposed = Wartet auf eine Entscheidung
plan-status-approved = Genehmigt
plan-status-in-progress = Läuft
plan-status-completed = Abgeschlossen
plan-status-cancelled = Abgebrochen
plan-status-failed = Gescheitert
plan-status-approved-part = Teilweise genehmigt
plan-status-in-progress-part = Läuft, teilweise genehmigt
plan-status-completed-part = Abgeschlossen, teilweise genehmigt
plan-approved-part = Nur { $approved } von { $all } Schritten wurden genehmigt. Die anderen laufen nicht.
step-approved = Genehmigt
step-not-approved = Nicht genehmigt: läuft nicht
step-approved-and = Genehmigt. { $status }
step-status-pending = Nicht begonnen
step-status-in-progress = Läuft
step-status-completed = Erledigt
step-status-blocked = Aufgehalten
step-status-skipped = Weggelassen
step-status-failed = Gescheitert

## Ihre Agenten

agents-title = Ihre Agenten
agents-lead = Wer für Sie handeln darf, wofür und bis wann. Jeden davon können Sie sofort abschalten.
agents-none-heading = Niemand handelt für Sie
agents-none = Wenn Sie einem Agenten zustimmen, erscheint er hier.
agents-live = Verbunden
agents-ended = Beendet
agents-service = Bei
agents-since = Seit
agents-until = Bis
agents-last-used = Zuletzt benutzt
agents-ended-at = Beendet
agents-why = Warum
agents-did = Was er getan hat
agents-did-of = Was er getan hat: { $domain }
agents-cut-off = Abschalten
agents-cut-off-of = { $domain } abschalten
state-active = Aktiv
state-suspended = Angehalten
state-ended = Beendet
ended-policy-expired = Seine Zeit war um.
ended-inactivity = Er wurde lange nicht benutzt.
ended-task-complete = Seine Aufgabe war erledigt.
ended-event-triggered = In Ihrem Konto oder Ihrer Organisation hat sich etwas geändert.
ended-manual-revoke = Er wurde abgeschaltet.
ended-key-rotation = Sein Betreiber hat den Schlüssel zurückgezogen.
notice-revoked = { $domain } ist abgeschaltet und hat keinen Zugang mehr.
notice-already-revoked = { $domain } war schon abgeschaltet und hat keinen Zugang.
agent-back = Alle Ihre Agenten
agent-id = Nummer dieser Verbindung
agent-audit-heading = Was er getan hat
agent-audit-caption = { $count ->
    [one] Insgesamt 1 Eintrag. Zeiten in UTC.
   *[other] Insgesamt { $count } Einträge. Zeiten in UTC.
  }
agent-audit-none = Er hat noch nichts getan.
audit-time = Zeit
audit-method = Methode
audit-path = Pfad
audit-intent = Zweck
audit-outcome = Ergebnis
audit-session = Sitzung
audit-no-intent = keiner
agent-pages = Weitere Einträge
agent-next = Nächste Einträge
agent-first = Erste Einträge
suspended-heading = Angehalten
suspended-why = Dieser Dienst wurde aus einer Sicherung wiederhergestellt und weiß nicht, ob Sie diesen Agenten seither abgeschaltet haben. Wenn nicht, lassen Sie ihn wieder zu.
suspended-lift = Wieder zulassen
revoke-title = { $domain } abschalten?
revoke-before = Diesen Agenten abschalten?
revoke-lead = Er verliert seinen Zugang sofort, auch mitten in einer Aufgabe. Was er schon getan hat, bleibt getan.
revoke-again = Um zurückzukommen, muss er Sie neu fragen.
revoke-loses = Was er dann nicht mehr darf
revoke-submit = Abschalten
revoke-keep = Behalten

## Konto

account-title = Konto
account-name = Name
account-username = Benutzername
account-signed-in = Angemeldet seit
account-expires = Endet von selbst
account-here-heading = Auf diesem Gerät
account-sign-out = Abmelden
account-everywhere-heading = Auf allen Geräten
account-everywhere = Beendet alle Ihre Anmeldungen, auch diese, und die Schlüssel aller Ihrer Abonnenten. Ihre Agenten behalten ihren Zugang: die schalten Sie auf der Seite „Ihre Agenten“ ab.
account-sign-out-everywhere = Überall abmelden
subscribers-heading = Abonnenten
subscribers-lead = Programme von Ihnen, die hören, was Agenten Sie fragen: ein Bildschirmleser, ein Lautsprecher, ein Skript. Jedes hat einen eigenen Schlüssel, und jeden können Sie zurücknehmen.
subscribers-none = Es gibt keine.
subscriber-answers = Hört und antwortet für Sie.
subscriber-listens = Hört nur zu.
subscriber-approves-high-risk = Darf Handlungen mit hohem Risiko genehmigen, die sich nicht rückgängig machen lassen.
subscriber-in-address = Sein Schlüssel steht in seiner Adresse.
subscriber-revoke = Zurücknehmen
subscriber-revoke-of = Zurücknehmen: { $name }
subscriber-taken-back = { $name } ist zurückgenommen und hört und beantwortet nichts mehr.
subscriber-new = Noch einer
subscriber-project = Wovon er hört
subscriber-name = Wie Sie ihn nennen
subscriber-may-answer = Er darf für mich antworten
subscriber-high-risk = Er darf auch Handlungen mit hohem Risiko genehmigen, die sich nicht rückgängig machen lassen
subscriber-high-risk-hint = Ohne dies beantworten Sie solche Fragen auf diesen Seiten. Sie werden nach Ihrem Kennwort gefragt, wenn Sie es nicht in den letzten fünf Minuten eingegeben haben.
subscriber-days = { $count ->
    [one] Er gilt einen Tag und endet früher, wenn Sie sich überall abmelden oder ein neues Kennwort bekommen.
   *[other] Er gilt { $count } Tage und endet früher, wenn Sie sich überall abmelden oder ein neues Kennwort bekommen.
}
subscriber-legacy = Er kann keinen Schlüssel senden; der Schlüssel soll in der Adresse stehen
subscriber-legacy-hint = Nur für alte Programme. Wer die Adresse sieht, kann, was das Programm kann.
subscriber-make = Schlüssel erzeugen
subscriber-error-name = Geben Sie ihm einen Namen mit höchstens 128 Zeichen.
subscriber-error-legacy = Dieser Dienst lässt keine Schlüssel in Adressen zu.
subscriber-error-listens = Ein Programm, das nur zuhört, genehmigt nichts: Lassen Sie es antworten, oder lassen Sie das weg.
subscriber-made-title = Geben Sie dem Programm diesen Schlüssel
subscriber-made-lead = „{ $name }“ kann zuhören, sobald es ihn hat.
subscriber-made-token = Schlüssel
subscriber-made-copy = Schlüssel kopieren
subscriber-made-endpoint = Adresse mit dem Schlüssel darin
subscriber-made-once = Er wird nicht wieder gezeigt. Wer ihn hat, kann, was das Programm kann, bis Sie ihn zurücknehmen.
subscriber-made-back = Zurück zum Konto

## Wenn eine Seite nicht gezeigt werden kann

trouble-bad-request-title = Diese Anfrage ist nicht zu verstehen
trouble-bad-request-what = Etwas in der Adresse oder im Formular ist nicht, wie es sein soll. Es wurde nichts geändert.
trouble-bad-request-next = Gehen Sie zurück und versuchen Sie es noch einmal.
trouble-not-allowed-title = Das dürfen Sie nicht
trouble-not-allowed-what = Ihr Konto hat nicht das Recht, das zu sehen oder zu tun. Es wurde nichts geändert.
trouble-not-allowed-next = Melden Sie sich mit einem anderen Konto an, oder fragen Sie, wer diesen Dienst verwaltet.
trouble-form-expired-title = Dieses Formular ist abgelaufen
trouble-form-expired-what = Es war zu lange offen oder kam von anderswo. Es wurde nichts geändert.
trouble-form-expired-next = Gehen Sie zurück, laden Sie die Seite neu und senden Sie das Formular noch einmal.
trouble-not-found-title = Diese Seite gibt es nicht
trouble-not-found-what = Unter dieser Adresse ist nichts, oder nichts, was Sie sehen dürfen.
trouble-not-found-next = Prüfen Sie die Adresse, oder beginnen Sie auf der Startseite.
trouble-wrong-method-title = Diese Adresse geht anders
trouble-wrong-method-what = Sie lässt sich so nicht öffnen. Es wurde nichts geändert.
trouble-wrong-method-next = Gehen Sie zurück und benutzen Sie die Schaltfläche auf der Seite.
trouble-too-many-title = Zu viele Anfragen
trouble-too-many-what = Es kamen in kurzer Zeit mehr Anfragen als erlaubt. Diese wurde nicht ausgeführt.
trouble-too-many-next = Versuchen Sie es wieder nach: { $duration }.
trouble-internal-title = Hier ist etwas schiefgegangen
trouble-internal-what = Der Fehler liegt bei uns. Ob Ihr letzter Schritt ausgeführt wurde, können wir nicht sagen.
trouble-internal-next = Sehen Sie auf der Seite „Ihre Agenten“ nach, bevor Sie es noch einmal versuchen. Geschieht es wieder, nennen Sie der Verwaltung die Nummer unten.
trouble-unavailable-title = Im Augenblick nicht verfügbar
trouble-unavailable-what = Der Dienst lehnt alles ab, bis er seine Aufzeichnungen wieder führen kann.
trouble-unavailable-next = Versuchen Sie es in einer Minute wieder.
error-next = Was Sie tun können
error-request-id = Nummer dieser Anfrage
error-home = Startseite

## Startseite

home-title = Zustimmung für KI-Agenten
home-lead = Bei { $service } können KI-Agenten für Menschen handeln, aber nur für die, die zugestimmt haben: wozu sie zugestimmt haben und so lange sie zugestimmt haben.
home-people-heading = Für Sie
home-inbox = Sehen und beantworten, was Agenten Sie fragen
home-agents = Sehen und beenden, was Agenten für Sie dürfen
home-sign-in = Anmelden
home-account = Ihr Konto
home-machines-heading = Für Agenten und alle, die sie bauen
home-manifest = Wie sich Agenten verbinden (Manifest)
home-openapi = Die API (OpenAPI)
home-rules-heading = Worauf Sie sich verlassen können
home-rule-domain = Sie sehen die geprüfte Domain dessen, der fragt, nicht nur einen Namen.
home-rule-end = Schalten Sie einen Agenten ab, so ist sofort Schluss.
home-rule-record = Alles, was ein Agent für Sie tut, wird aufgezeichnet, und Sie können es lesen.

## Was unklar war

asked-words-rule = Von einer Regel von { $service } gefragt, weil der Plan des Agenten es offenlässt. Was in Anführungszeichen steht, sind die eigenen Worte des Agenten.
asked-unanswered-stopped = Es bleibt offen, und der Agent bleibt angehalten.
clarified-heading = Was zuvor geklärt wurde
clarified-field = Stelle im Plan des Agenten
clarified-question = Frage
clarified-answer = Antwort
clarified-own = Eigene Antwort des Agenten: sonst hat sie niemand gegeben oder geprüft
clarified-person = Antwort eines Menschen
clarified-more = { $count ->
    [one] Es gibt noch eine weitere Antwort; sie steht im Protokoll.
   *[other] Es gibt noch { $count } weitere Antworten; alle stehen im Protokoll.
  }
clarified-record = Protokoll aller Fragen und Antworten
gap-heading = Der Agent ist angehalten, bis das beantwortet ist
gap-stops = Bis dahin bekommt er weder seinen Plan noch eine Bescheinigung.
gap-stops-also = Bis dahin bekommt er weder seinen Plan noch eine Bescheinigung, und angehalten ist: { $what }.
gap-planner = Planen
gap-developer = Entwickeln
gap-build = Ausführen
gap-attest = Bescheinigen
gap-field = Es geht um diese Stelle im Plan des Agenten:
gap-why = Warum gefragt wird
gap-may-stand = Das ist eine Warnung. Mit dem Wort accept als Antwort bleibt es, wie es ist.
abandon-heading = Wird das nicht mehr gebraucht?
abandon-means = Wenn Sie die Klärung abbrechen, wird niemand mehr danach gefragt, der Plan des Agenten wird nicht bestätigt, und was sie angehalten hat, läuft weiter.
abandon-button = Klärung abbrechen
gap-said = Was der Agent selbst gesagt hat
gap-not-taken = Das wurde nicht als Antwort genommen:
