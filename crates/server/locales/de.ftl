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
agents-may = Berechtigungen

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
connect-verified-how = Der Absender dieser Anfrage hat bewiesen, dass er diese Domain kontrolliert.
connect-unicode = Anderswo erscheint sie vielleicht als
connect-calls-itself = Er nennt sich
connect-name-proves-nothing = Jeden Namen kann sich jeder geben. Geprüft ist nur die Domain.
connect-warnings-heading = Sehen Sie sich diese Domain genau an
connect-may-heading = Berechtigungen
connect-mode-heading = Wie er handelt
connect-lasts-heading = Wie lange
connect-lasts = { $duration } ab Ihrer Genehmigung
connect-ends = Sie können den Zugang jederzeit auf der Seite „Ihre Agenten“ entziehen. Dann ist sofort Schluss; was schon ausgeführt wurde, wird nicht rückgängig gemacht.
ends-also = Der Zugang endet früher:
ends-inactivity = wenn { $duration } lang keine Anfrage kommt
ends-task = wenn der Agent seine Aufgabe als erledigt meldet
ends-requests = { $count ->
    [one] nach einer Anfrage
   *[other] nach { $count } Anfragen
}
ends-writes = { $count ->
    [one] nach einer Änderung
   *[other] nach { $count } Änderungen
}
ends-offboarded = wenn Ihr Konto deaktiviert wird
ends-subscription = wenn Ihre Organisation ihr Abonnement kündigt
ends-resource = wenn die Ressource gelöscht wird, für die er gilt
ends-role = wenn sich Ihre Rolle ändert
ends-by-service = Regel von { $service }
ends-by-operator = Regel von { $domain }
ends-by-user = Ihre eigene Regel
own-rules-heading = Früher enden lassen
own-rules-duration = Höchstens so lange
own-rules-inactivity = Nach dieser Zeit ohne Anfrage
own-rules-hint = Zum Beispiel 12h, 7d oder 2w. Ohne Anfrage mindestens 1h. Längere Zeiten als oben bewirken nichts.
own-rules-requests = Nach so vielen Anfragen
own-rules-task = Wenn der Agent seine Aufgabe als erledigt meldet
own-rules-submit = Mit diesen Regeln zeigen
own-rules-error = Eine Ihrer Regeln ist nicht lesbar. Schreiben Sie Zeiten als 12h, 7d oder 2w (ohne Anfrage mindestens 1h) und bei Anfragen eine Zahl ab 1.
connect-liability-heading = Wenn etwas schiefgeht
connect-acknowledge = Ich habe das gelesen
connect-acknowledge-hint = Das brauchen Sie nur zum Genehmigen, nicht zum Ablehnen.
connect-then-callback = Nach Ihrer Antwort kehren Sie zu { $host } zurück.
connect-then-code = Nach Ihrer Genehmigung bekommen Sie einen Code, den Sie dem Agenten geben.
connect-approve = Genehmigen
connect-deny = Ablehnen
connect-answer-by = Sie können antworten bis
connect-signed-in-as = Sie entscheiden als { $person }.
connect-not-you = Sind Sie das nicht?
connect-error-not-acknowledged = Um zu genehmigen, bestätigen Sie, dass Sie den Text unter „Wenn etwas schiefgeht“ gelesen haben.
connect-error-changed = Diese Anfrage hat sich geändert, seit Sie sie gesehen haben; es wurde nichts genehmigt. Bitte lesen Sie sie noch einmal.
scope-includes = Umfasst
scope-never = Niemals
scope-irreversible = Nicht rückgängig zu machen
scope-undo = Kann zurückgenommen werden: { $duration } lang
scope-requires-confirmation = Jede Nutzung muss genehmigt werden
scope-not-offered = Diese Berechtigung gibt es nicht mehr; sie ist wirkungslos.
liability-by-operator = In den Worten von { $domain }
liability-by-service = In den Worten von { $service }
warning-looks-like-connected = Das ist nicht { $domain }, mit der Sie verbunden sind, sieht aber so aus.
warning-looks-like-service = Das ist nicht { $domain }, der Dienst, den Sie benutzen, sieht aber so aus.
warning-embeds = Sie enthält { $domain }, gehört aber nicht dazu. Wem eine Domain gehört, sagt ihr Ende.
warning-mixed-scripts = „{ $label }“ mischt Buchstaben verschiedener Alphabete; das geschieht oft, um zu täuschen: { $letters }.
warning-reads-as-latin = Sie liest sich wie „{ $latin }“, ist aber mit Buchstaben eines anderen Alphabets geschrieben: { $letters }.
warning-name-claims-domain = Der Name, den er sich gibt, enthält { $domain }; das ist eine andere Domain.

## Ein Dienstkonto

grant-title = { $domain } ein Dienstkonto geben?
grant-before = Möchten Sie einem Agenten von
grant-after = ein Dienstkonto bei { $service } geben?
grant-lead = Es handelt für niemanden persönlich. Es bekommt genau, was Sie angeben, und später wird daraus nicht mehr.
grant-form-heading = Was es bekommt
grant-account = Kennung des Kontos
grant-account-hint = Sie beginnt mit svc_, zum Beispiel svc_front_desk.
grant-org = Kennung der Organisation
grant-authorized = Das Token nennt Sie als { $email }.
grant-description = Beschreibung, wie andere sie lesen
grant-resources = Ressourcen, eine in jeder Zeile
grant-resources-hint = Zum Beispiel inbox:desk. Eine Zeile mit :* am Ende umfasst alles, was so beginnt. Routen mit einer Ressource, die hier fehlt, bleiben dem Konto verschlossen.
grant-resources-heading = Ressourcen
grant-no-resources = Keine: Alle Routen mit einer Ressource bleiben dem Konto verschlossen.
grant-unbounded = Diese Routen haben keine Ressource; nur die Berechtigungen begrenzen sie:
grant-crosses = Diese Ressourcen enthalten Daten mehrerer Personen. Jeder Protokolleintrag nennt sie.
grant-ends = Verwalter können es jederzeit mit „countersign service-account revoke“ entziehen.
grant-acknowledge = Ich habe alles gelesen
grant-review = Alles zeigen, bevor es vergeben wird
grant-error-not-acknowledged = Um zu genehmigen, bestätigen Sie, dass Sie alles gelesen haben.
grant-error-proposal = Das kann nicht vergeben werden: { $why }

## Nach der Antwort

connected-title = Verbunden: noch ein Schritt
connected-heading = Geben Sie dem Agenten diesen Code
connected-lead = Sie haben { $domain } genehmigt. Der Agent kann beginnen, sobald er diesen Code hat.
connected-code = Einmalcode
connected-copy = Code kopieren
connected-copied = Kopiert
connected-step-copy = Kopieren Sie den Code.
connected-step-paste = Fügen Sie ihn dort ein, wo der Agent Sie danach gefragt hat, und nirgends sonst.
connected-step-leave = Das ist alles. Sie können diese Seite schließen.
connected-once = Er gilt einmal, 10 Minuten lang, und wird nicht wieder gezeigt. Gültig bis
connected-manage = Diese Verbindung ansehen oder den Zugang entziehen
connect-denied-title = Abgelehnt
connect-denied-what = { $domain } wurde nicht verbunden und hat keinen Zugang.
connect-denied-next = Sie können diese Seite schließen. Um wieder zu fragen, braucht der Agent eine neue Anfrage.
connect-expired-title = Diese Anfrage ist abgelaufen
connect-expired-what = Eine Anfrage kann 10 Minuten lang beantwortet werden. Es wurde nichts genehmigt.
connect-expired-next = Wenn Sie es noch möchten, beginnen Sie beim Agenten von vorn.
connect-answered-title = Schon beantwortet
connect-answered-what = Diese Anfrage ist schon beantwortet. Nur die erste Antwort zählt.
connect-answered-next = Die Seite „Ihre Agenten“ zeigt Ihre verbundenen Agenten.
connect-gone-title = Keine solche Anfrage
connect-gone-what = Unter dieser Adresse gibt es keine ausstehende Anfrage. Es wurde nichts genehmigt.
connect-gone-next = Prüfen Sie die Adresse, oder beginnen Sie beim Agenten von vorn.

## Eingang

inbox-title = Eingang
inbox-title-waiting = Eingang: { $count ->
    [one] 1 ausstehende Frage
   *[other] { $count } ausstehende Fragen
  }
inbox-lead = Agenten brauchen diese Antworten, bevor sie weitermachen. Jede Antwort zählt einmal und nur innerhalb der Frist.
inbox-none-heading = Keine ausstehenden Fragen
inbox-none = Neue Fragen von Agenten erscheinen hier.
inbox-waiting = Ausstehend
inbox-open = Lesen und antworten
inbox-open-of = Lesen und antworten: { $what } Angefragt von { $who }
inbox-error-nothing-chosen = Wählen Sie, ob es ausgeführt wurde oder nicht.
inbox-error-no-reason = Sagen Sie, wie Sie es herausgefunden haben, mit höchstens 4.096 Zeichen.
inbox-error-not-entitled = Sie dürfen dieses Ergebnis nicht melden. Das tut jemand, der die Aktion genehmigen darf und nicht die Person ist, für die der Agent handelt. Es wurde nichts geändert.
inbox-error-known = Das Ergebnis wurde inzwischen gemeldet; es wurde nichts geändert.
live-label = Aktualisierungen
live-off = Diese Seite aktualisiert sich nicht von selbst.
live-on = Neue Fragen werden hier gemeldet, sobald sie kommen.
live-reload = Neu laden
live-new = Eine neue Frage steht aus.
live-read = Lesen
live-accepted = Eine Frage auf dieser Seite wurde genehmigt.
live-rejected = Eine Frage auf dieser Seite wurde abgelehnt.
live-answered = Eine Frage auf dieser Seite wurde beantwortet.
live-expired = Die Frist für eine Frage auf dieser Seite ist abgelaufen.
live-cancelled = Eine Frage auf dieser Seite wurde zurückgezogen. Sie braucht keine Antwort mehr.
live-gone = Eine Frage auf dieser Seite steht nicht mehr aus.
asked-by-operator = geprüfte Domain
asked-by-key = API-Schlüssel dieses Dienstes
asked-words-agent = In den eigenen Worten des Agenten. Niemand hat sie geprüft.
asked-words-service = Von { $service } aus der Anfrage erstellt
asked-action = Aktion
asked-consequence = Folge
asked-summary = Zusammenfassung
asked-question = Frage
asked-context = Zusammenhang
asked-tool = Werkzeug:
asked-method = HTTP-Methode
asked-target = Adresse
asked-content-type = Inhaltstyp
asked-body-bytes = Größe des Inhalts in Bytes
asked-body-hash = SHA-256 des Inhalts
asked-requested-by = Angefragt von
asked-cut = Gekürzt; die Seite der Frage zeigt den ganzen Text.
call-heading-request = Außerdem in dieser Anfrage
call-heading-tool = Werkzeugaufruf
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
    [one] Eine andere Frage in dieser Liste liest sich gleich. Diese unterscheidet sich in:
   *[other] { $count } andere Fragen in dieser Liste lesen sich gleich. Diese unterscheidet sich in:
}
call-alike-same = { $count ->
    [one] Eine andere Frage in dieser Liste liest sich gleich und erlaubt genau denselben Aufruf.
   *[other] { $count } andere Fragen in dieser Liste lesen sich gleich und erlauben genau denselben Aufruf.
}
question-technical = Technische Details
question-digest = Prüfsumme des ganzen Aufrufs (SHA-256)
asked-risk-high = Hohes Risiko
asked-risk-medium = Mittleres Risiko
asked-risk-low = Geringes Risiko
asked-irreversible = Nicht rückgängig zu machen
asked-reversible-with-effort = Mit Aufwand rückgängig zu machen
asked-reversible = Kann rückgängig gemacht werden
asked-left = Verbleibende Zeit
asked-left-note = als diese Seite geöffnet wurde
asked-deadline = Antworten Sie bis
asked-unanswered = Wenn niemand antwortet
asked-last-ran = Genau dasselbe wurde zuletzt ausgeführt
asked-yes-means = Eine Genehmigung erlaubt genau das, einmal, binnen: { $duration }.
asked-unanswered-rejected = Es wird nicht ausgeführt.
asked-unanswered-accepted = Es darf ausgeführt werden; festgehalten wird dann, dass niemand geantwortet hat.
asked-unanswered-response = Der Agent macht mit dieser Antwort weiter: { $response }
asked-unanswered-unavailable = Der Agent erfährt, dass es keine Antwort gibt.
question-title = { $what } Angefragt von { $who }
question-back = Alle ausstehenden Fragen
question-id = Kennung der Frage
question-answer-heading = Ihre Antwort
question-reason = Grund für eine Ablehnung (freiwillig)
question-reason-hint = Der Agent kann ihn lesen. Eine Genehmigung kann keine Bedingungen haben: Wenn Sie etwas anderes wollen, lehnen Sie ab.
question-reject = Ablehnen
question-accept = Genehmigen
question-no-only = Genehmigen kann das nur jemand anderes. Ablehnen können Sie es.
question-one-of = Antworten Sie auf eine dieser Arten.
question-text = Ihre Antwort in Worten
question-number = Ihre Antwort als Zahl
question-yes-no = Ja oder Nein
question-yes = Ja
question-no = Nein
question-choices = Wählen Sie eines
question-send = Antwort senden
question-send-of = Antwort senden: { $what }
question-prove-first = Dafür ist ein frischer Nachweis nötig: Ihre Antwort zählt nur, wenn Sie gerade erst Ihr Passwort eingegeben haben.
question-prove = Bestätigen, dass Sie es sind
question-not-here = Dafür ist ein stärkerer Identitätsnachweis nötig, als diese Seite ihn annehmen kann. Sie können es hier lesen, aber nicht beantworten.
question-nothing = Sie dürfen das lesen, aber nicht beantworten.
question-more-heading = Mehr Zeit
question-more-until = Die Frist kann verlängert werden bis
question-more = Um mehr Zeit bitten: { $duration }
question-became-heading = Ergebnis
question-runs-heading = Ausführung
question-reason-given = Der Grund:
question-response-given = Die Antwort:
question-notice-more-time = Die Frist wurde verlängert. Alle, die antworten können, werden benachrichtigt.
question-notice-reconciled = Das Ergebnis ist festgehalten.
question-notice-undone = Zurückgenommen. Es wurde nicht gesendet und wird es nie.
question-notice-undone-sent = Zurückgenommen. Der Dienst hat es bestätigt.
question-notice-remains = Es wurde nicht zurückgenommen. Unten steht, warum.
question-notice-undo-unknown = Es ist unbekannt, ob es zurückgenommen wurde: Der Dienst wurde gefragt, und seine Antwort ging verloren.
question-error-changed = Diese Frage hat sich geändert, seit Sie sie gesehen haben; Ihre Antwort hat nicht gezählt. Bitte lesen Sie sie noch einmal.
question-error-settled = Ihre Antwort hat nicht gezählt: Die Frage war schon entschieden. Das Ergebnis steht unten.
question-error-too-late = Ihre Antwort hat nicht gezählt: Sie kam nach Ablauf der Frist.
question-error-undo-over = Zu spät: Die Zeit für die Rücknahme ist vorbei. Unten steht, was daraus wurde.
question-error-not-entitled = Ihre Antwort hat nicht gezählt: Sie dürfen das nicht entscheiden.
question-error-not-allowed = Ihre Antwort hat nicht gezählt: Diese Frage nimmt sie nicht an.
question-error-reason-too-long = Der Grund ist zu lang. Er hat höchstens 4.096 Zeichen.
question-error-no-number = Geben Sie eine Zahl ein, etwa 42 oder 3,5.
question-error-no-text = Geben Sie eine Antwort ein, mit höchstens 4.096 Zeichen.
question-error-no-choice = Wählen Sie eine der Antworten.
became-open = Die Frage steht aus.
became-over = Die Frist für eine Antwort ist abgelaufen.
became-accepted-you = Sie haben es genehmigt.
became-accepted-other = Jemand anderes, der das entscheiden darf, hat es genehmigt.
became-rejected-you = Sie haben es abgelehnt.
became-rejected-other = Jemand anderes, der das entscheiden darf, hat es abgelehnt.
became-answered-you = Sie haben geantwortet.
became-answered-other = Jemand anderes hat geantwortet.
became-expired = Niemand hat rechtzeitig geantwortet.
became-withdrawn = Es wurde zurückgezogen. Es braucht keine Antwort mehr.
became-session-over = Die Sitzung des Agenten ist beendet. Es braucht keine Antwort mehr.
became-revoked = Dem Agenten wurde der Zugang entzogen. Es braucht keine Antwort mehr.
became-word-open = Ausstehend
became-word-expired = Abgelaufen
became-word-accepted = Genehmigt
became-word-rejected = Abgelehnt
became-word-answered = Beantwortet
became-word-withdrawn = Zurückgezogen
became-word-over = Entschieden
expired-as-rejected = Also wird es nicht ausgeführt.
expired-as-accepted = Also darf es ausgeführt werden, wie es die Regel für diese Aktion sagt; festgehalten ist, dass niemand geantwortet hat.
expired-as-response = Also macht der Agent mit dieser Antwort weiter: { $response }
expired-as-unavailable = Also hat der Agent erfahren, dass es keine Antwort gibt.
runs-may = Genau das darf einmal ausgeführt werden, bis
runs-held = Es wird zurückgehalten, damit es zurückgenommen werden kann, und gesendet am
runs-undone = Es wurde vor dem Senden zurückgenommen am
runs-lapsed = Es wurde nicht ausgeführt: Die Genehmigung wurde nicht rechtzeitig genutzt. Sie verfiel am
runs-cancelled = Es darf nicht mehr ausgeführt werden. Die Genehmigung wurde aufgehoben am
runs-begun = Es hat begonnen, und der Agent muss das Ergebnis melden bis
runs-begun-gateway = Die Anfrage wurde gesendet, und eine Antwort wird erwartet bis
runs-ran-agent = Es wurde ausgeführt, wie der Agent gemeldet hat am
runs-ran-gateway = Es wurde ausgeführt: Der Dienst hinter dem Gateway hat es bestätigt am
runs-ran-upstream = Es wurde ausgeführt: Der Dienst hinter dem Gateway hat es auf Nachfrage bestätigt am
runs-ran-you = Es wurde ausgeführt, wie Sie gemeldet haben am
runs-ran-other = Es wurde ausgeführt, wie jemand anderes gemeldet hat am
runs-failed-agent = Es ist gescheitert, wie der Agent gemeldet hat am
runs-failed-gateway = Es ist gescheitert, wie das Gateway beobachtet hat am
runs-failed-upstream = Es wurde nicht ausgeführt: Der Dienst hinter dem Gateway hat es auf Nachfrage gemeldet am
runs-failed-you = Es wurde nicht ausgeführt, wie Sie gemeldet haben am
runs-failed-other = Es wurde nicht ausgeführt, wie jemand anderes gemeldet hat am
runs-released = Es wurde weitergeleitet, und das Ergebnis wurde nicht beobachtet, am
runs-unknown = Das Ergebnis ist unbekannt: Es hat begonnen, und nichts wurde gemeldet seit
undo-heading = Zurücknehmen
undo-means = Die genehmigte Aktion wurde noch nicht gesendet. Wenn Sie sie zurücknehmen, wird sie es nie.
undo-means-sent = Die genehmigte Aktion wurde ausgeführt. Der Dienst kann sie noch zurücknehmen.
undo-undoing = Der Dienst wird gerade gebeten, es zurückzunehmen.
undo-undone = Der Dienst hat es zurückgenommen am
undo-remains = Es wurde nicht zurückgenommen. Der Grund wurde festgehalten am
undo-unknown = Es ist unbekannt, ob es zurückgenommen wurde: Der Dienst wurde gefragt, und seine Antwort ging verloren am
undo-button = Zurücknehmen
undo-button-of = Zurücknehmen: { $what }
undoable-heading = Kann noch zurückgenommen werden
undoable-lead = Diese Aktionen wurden genehmigt. Sie werden vor dem Senden kurz zurückgehalten, oder ihr Dienst kann sie noch zurücknehmen.
undoable-more = Nur die neuesten sind aufgeführt.
undoable-word = Zurückgehalten
undoable-until = Gesendet am
undoable-word-sent = Ausgeführt
undoable-until-sent = Kann zurückgenommen werden bis
unreported-heading = Unbekannte Ergebnisse
unreported-lead = All das wurde genehmigt und begonnen, und kein Ergebnis wurde gemeldet. Es wird nicht noch einmal versucht. Finden Sie heraus, was geschehen ist, und melden Sie es.
unreported-word = Ergebnis unbekannt
unreported-begun = Begonnen
unreported-since = Keine Meldung seit
unreported-asked-until = Der Dienst wird gefragt bis
unreported-asked = Der Dienst hinter dem Gateway wird nach dem Ergebnis gefragt. Warten Sie auf seine Antwort, oder finden Sie es selbst heraus: Ihre Meldung beendet die Nachfrage.
unreported-question = Die Frage und ihre Antwort
unreported-question-of = Die Frage und ihre Antwort: { $what }
unreported-what = Was ist geschehen?
unreported-ran = Es wurde ausgeführt
unreported-did-not = Es wurde nicht ausgeführt
unreported-reason = Wie Sie es herausgefunden haben
unreported-submit = Ergebnis melden
unreported-not-yours = Jemand anderes muss dieses Ergebnis melden.

## Pläne und Dauergenehmigungen

asked-words-plan = Von { $service } aus dem Plan erstellt. Die eigenen Worte des Agenten stehen in Anführungszeichen.
became-called-off-you = Sie haben es abgebrochen. Es braucht keine Antwort mehr.
became-called-off-other = Jemand anderes, der das entscheiden darf, hat es abgebrochen. Es braucht keine Antwort mehr.
became-word-called-off = Abgebrochen
difference-heading = Das weicht vom genehmigten Plan ab
difference-plan = Der Plan und sein Stand
question-arguments = Argumente des Werkzeugaufrufs
question-locked = Gesperrt
question-locked-for-you = Diese Genehmigung ist gesperrt. Entscheiden lässt sie sich, wenn sie entsperrt ist, oder durch jemanden, der sich über die Sperre hinwegsetzen darf.
question-override = Über die Sperre hinwegsetzen
question-open-heading = Dauergenehmigung
question-open-take-back = Dauergenehmigungen ansehen und widerrufen
question-error-locked = Ihre Antwort hat nicht gezählt: Diese Genehmigung ist gesperrt. Wenn Sie das dürfen, kreuzen Sie „Über die Sperre hinwegsetzen“ an.
question-error-out-of-bounds = Ihre Antwort hat nicht gezählt. Die Regeln sagen: { $why }
more-heading = Dauergenehmigung erteilen
more-lead = Eine Dauergenehmigung gilt auch für weitere Aufrufe derselben Art durch diesen Agenten. Alles bleibt genau, wie es gezeigt wird, außer einem Betrag, für den Sie hier eine Grenze angeben. Sie können sie jederzeit widerrufen.
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
more-unit = Einheit
more-unit-none = Ohne Einheit (dann gibt es keine Summe)
more-unit-of = Wie { $name } sagt, jetzt { $unit }
more-fixed = Das ist nicht rückgängig zu machen und hat hohes Risiko; deshalb bleibt alles, wie es gezeigt wird.
more-submit = In diesen Grenzen genehmigen
more-error-empty = Sagen Sie, wie oft, wie lange oder bis zu welchem Betrag. Für genau dieses eine Mal gibt es „Genehmigen“.
more-error-uses = Geben Sie als ganze Zahl an, wie oft; so oft, wie es hier erlaubt ist.
more-error-minutes = Geben Sie als ganze Zahl an, wie viele Minuten; so viele, wie hier erlaubt sind.
more-error-amount = Geben Sie einen Betrag in Ziffern an, etwa 500 oder 500,00.
more-error-too-small = Das muss mindestens { $amount } sein, sonst wäre diese Anfrage nicht abgedeckt.
more-error-no-unit = Eine Summe braucht eine Einheit: Wählen Sie eine.
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
planned-title = Titel
planned-objective = Ziel
planned-reason = Grund
planned-asking-role = Angefragt in der Rolle
planned-changes = Änderungen, seit Sie zuletzt gefragt wurden
planned-unchanged = Nichts hat sich geändert, seit Sie zuletzt gefragt wurden.
planned-choose = Welche Schritte dürfen ausgeführt werden?
planned-step = Schritt { $number }
planned-words-owner = Der Aufruf, in den Worten des Dienstes
planned-words-call = Der Aufruf selbst
planned-uses = { $count ->
    [one] Einmal.
   *[other] Bis zu { $count }-mal.
  }
planned-asks-again = Sie werden vor jedem Aufruf noch einmal gefragt.
planned-all-arguments = Alle Argumente von Schritt { $number }
planned-runs-nothing = Eine Genehmigung erlaubt für diesen Schritt keinen Aufruf: Der Agent erledigt ihn selbst.
planned-after = Erst nach Schritt { $steps }.
planned-role = Für die Rolle { $role }
planned-yes-means = Mit einer Genehmigung dürfen die angekreuzten Schritte ohne weitere Frage ausgeführt werden, ab dann { $duration } lang, jeder so oft wie angegeben und in seinen Grenzen. Alles andere muss weiterhin genehmigt werden.
planned-accept = Angekreuzte Schritte genehmigen
planned-page = Der Plan und sein Stand
planned-error-no-step = Kreuzen Sie mindestens einen Schritt an, oder lehnen Sie den Plan ab.
planned-error-needs = Schritt { $step } geht erst nach Schritt { $needs }: Kreuzen Sie auch den an, oder lassen Sie beide weg.
inbox-yeses = { $count ->
    [0] Dauergenehmigungen: keine
   *[other] Dauergenehmigungen: { $count }
  }
account-allowances = Dauergenehmigungen ansehen und widerrufen
allowances-title = Dauergenehmigungen
allowances-lead = Diese Aufrufe dürfen Agenten ohne weitere Frage ausführen, weil jemand mehr als einen Aufruf genehmigt hat.
allowances-none-heading = Keine Dauergenehmigungen
allowances-none = Agenten fragen Sie vor jeder Aktion, wenn die Regeln des Dienstes nichts anderes sagen.
allowances-taken-back = Die Dauergenehmigung ist widerrufen. Damit wird nichts mehr ausgeführt.
allowances-error-nothing-left = Es gibt nichts mehr zu widerrufen: Diese Genehmigung ist verbraucht, abgelaufen oder schon widerrufen.
allowances-error-not-yours = Diese Genehmigung dürfen Sie nicht widerrufen. Es wurde nichts geändert.
allowances-plan = Der Plan
allowances-plan-of = Der Plan: { $title }
allowance-open = Aktiv
allowance-left = Noch nutzbar: { $left } von { $uses }.
allowance-sum-left = { $left } von { $limit } übrig
allowance-until = Bis
allowance-reason = Grund (freiwillig)
allowance-take-back-of = Widerrufen: { $what }
allowance-take-back-step = Widerrufen, Schritt { $number }: { $what }
plan-title = Plan „{ $title }“: { $status }
plan-by = Plan
plan-progress-label = Stand
plan-progress = { $done } von { $all } Schritten abgeschlossen
plan-until = Seine Schritte dürfen ausgeführt werden bis
plan-feedback = Warum er an den Agenten zurückging
plan-steps = Schritte
plan-step-progress = { $done } von { $uses } Aufrufen abgeschlossen
plan-step-under-way = { $count ->
    [one] 1 Aufruf läuft gerade.
   *[other] { $count } Aufrufe laufen gerade.
  }
plan-step-lost = { $count ->
    [one] 1 Nutzung wurde ohne abgeschlossenen Aufruf verbraucht.
   *[other] { $count } Nutzungen wurden ohne abgeschlossene Aufrufe verbraucht.
  }
plan-left = Verbleibend
plan-events = Letzte Ereignisse
plan-no-events = Noch nichts.
plan-event-plan = Der Plan: { $status }
plan-event-step = Schritt { $number }: { $status }
plan-take-back-heading = Den Plan widerrufen
plan-take-back-lead = Von diesem Plan wird dann nichts mehr ausgeführt. Laufende Aufrufe lassen sich nicht anhalten, und abgeschlossene werden nicht rückgängig gemacht.
plan-take-back = Den ganzen Plan widerrufen
plan-taken-back = Der Plan ist widerrufen. Nichts mehr davon wird ausgeführt.
plan-error-nothing-left = Es gibt nichts zu widerrufen: Der Plan läuft nicht.
plan-id = Kennung des Plans
plan-status-draft = Entwurf
plan-status-proposed = Ausstehend
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
step-status-completed = Abgeschlossen
step-status-blocked = Blockiert
step-status-skipped = Übersprungen
step-status-failed = Gescheitert

## Ihre Agenten

agents-title = Ihre Agenten
agents-lead = Diese Agenten dürfen für Sie handeln. Jedem können Sie den Zugang sofort entziehen.
agents-none-heading = Keine verbundenen Agenten
agents-none = Wenn Sie einen Agenten genehmigen, erscheint er hier.
agents-live = Verbunden
agents-ended = Beendet
agents-service = Dienst
agents-since = Seit
agents-until = Bis
agents-ends-earlier = Endet früher
agents-last-used = Zuletzt benutzt
agents-ended-at = Beendet
agents-why = Grund
agents-did = Aktivität
agents-did-of = Aktivität: { $domain }
agents-cut-off = Zugang entziehen
agents-cut-off-of = Zugang entziehen: { $domain }
state-active = Aktiv
state-suspended = Angehalten
state-ended = Beendet
ended-policy-expired = Die Frist ist abgelaufen.
ended-inactivity = Er wurde lange nicht benutzt.
ended-task-complete = Seine Aufgabe war abgeschlossen.
ended-event-triggered = In Ihrem Konto oder Ihrer Organisation hat sich etwas geändert.
ended-manual-revoke = Der Zugang wurde entzogen.
ended-key-rotation = Sein Betreiber hat den Schlüssel zurückgezogen.
notice-revoked = { $domain } wurde der Zugang entzogen.
notice-already-revoked = { $domain } war der Zugang schon entzogen.
agent-back = Alle Ihre Agenten
agent-id = Kennung der Verbindung
agent-audit-heading = Aktivität
agent-audit-caption = { $count ->
    [one] Insgesamt 1 Eintrag.
   *[other] Insgesamt { $count } Einträge.
  }
audit-zone = Zeitzone:
agent-audit-none = Er hat noch nichts getan.
audit-time = Zeit
audit-method = Methode
audit-path = Pfad
audit-intent = Zweck
audit-outcome = Ergebnis
audit-session = Sitzung
audit-no-intent = keiner
audit-title = Prüfprotokoll
audit-decision-title = Entscheidung { $id }
audit-back = Das ganze Prüfprotokoll
audit-lead = Wer was entschieden hat, wie sicher das nachgewiesen ist und was daraus wurde. Älteste zuerst.
audit-timeline-label = Zeitstrahl von „{ $first }“ bis „{ $last }“. Die Tabelle darunter hat dieselben Einträge mit denselben Nummern.
audit-person = Benutzername
audit-result = Ergebnis
audit-any-result = Alle
audit-search = Suchen
audit-none = Kein Eintrag passt.
audit-number = Nr.
audit-event = Ereignis
audit-who = Wer
audit-how = Nachweis
audit-what = Was
audit-accepted = Genehmigt
audit-answered = Beantwortet
audit-rejected = Abgelehnt
audit-expired = Abgelaufen
audit-cancelled = Zurückgenommen
audit-refused = Verweigert
audit-committed = Ausgeführt
audit-failed = Fehlgeschlagen
audit-unknown = Unbekannt
audit-reconciled = Nachträglich geklärt
audit-conflict = Widersprüchlich
audit-ended = Beendet
audit-done = Erledigt
audit-recorded = Vermerkt
audit-altered = Verändert
audit-altered-why = Dieser Eintrag wurde nach dem Schreiben verändert. Was nicht passt, fehlt hier.
agent-pages = Weitere Einträge
agent-next = Nächste Einträge
agent-first = Erste Einträge
suspended-heading = Angehalten
suspended-why = Dieser Dienst wurde aus einer Sicherung wiederhergestellt und weiß nicht, ob Sie diesem Agenten seither den Zugang entzogen haben. Wenn nicht, lassen Sie ihn wieder zu.
suspended-networks = Der Zugang dieses Agenten wurde gleichzeitig aus zwei Netzen benutzt. Vielleicht hat ihn jemand gestohlen; deshalb läuft nichts, bis er wieder zugelassen ist. Wenn Sie beide Orte kennen, lassen Sie ihn zu; sonst beenden Sie seinen Zugang.
suspended-lift = Wieder zulassen

# Eine Aufgabe ist eine AAP-Sitzung eines Agenten.
tasks-heading = Laufende Aufgaben
tasks-lead = Wenn Sie eine Aufgabe beenden, behält der Agent seinen Zugang. Was der Dienst von ihr rückgängig machen kann, wird rückgängig gemacht.
task-since = Begonnen
task-last-heartbeat = Letztes Lebenszeichen: { $when }
task-no-heartbeat = Noch kein Lebenszeichen
task-silent = Kein Lebenszeichen seit { $when }
task-progress = { $count } Prozent erledigt
task-end = Diese Aufgabe beenden
task-ended-completed = Die Aufgabe ist beendet. Von ihren Änderungen bleibt nichts.
task-ended-partial = Die Aufgabe ist beendet. Ein Teil ihrer Änderungen kann bleiben: Sehen Sie in der Aktivität nach.
task-ended-not-supported = Die Aufgabe ist beendet. Ihre Änderungen bleiben: Dieser Dienst kann sie nicht rückgängig machen.
revoke-title = Zugang entziehen: { $domain }?
revoke-before = Diesem Agenten den Zugang entziehen?
revoke-lead = Er verliert seinen Zugang sofort, auch mitten in einer Aufgabe. Was schon ausgeführt wurde, wird nicht rückgängig gemacht.
revoke-again = Um wieder Zugang zu bekommen, muss er Sie neu fragen.
revoke-loses = Berechtigungen, die er verliert
revoke-submit = Zugang entziehen
revoke-keep = Zugang behalten

## Konto

account-title = Konto
account-name = Name
account-username = Benutzername
account-signed-in = Angemeldet seit
account-expires = Endet von selbst
account-here-heading = Auf diesem Gerät
account-sign-out = Abmelden
account-everywhere-heading = Auf allen Geräten
account-everywhere = Beendet alle Ihre Anmeldungen, auch diese, und die Schlüssel aller Ihrer Abonnenten. Ihre Agenten behalten ihren Zugang: Den entziehen Sie auf der Seite „Ihre Agenten“.
account-sign-out-everywhere = Überall abmelden
subscribers-heading = Abonnenten
subscribers-lead = Ihre Programme, die Fragen von Agenten empfangen: ein Bildschirmleser, ein Lautsprecher, ein Skript. Jedes hat einen eigenen Schlüssel, und jeden können Sie widerrufen.
subscribers-none = Es gibt keine.
subscriber-answers = Hört zu und antwortet für Sie.
subscriber-listens = Hört nur zu.
subscriber-approves-high-risk = Darf Aktionen mit hohem Risiko genehmigen, die sich nicht rückgängig machen lassen.
subscriber-in-address = Sein Schlüssel steht in seiner Adresse.
subscriber-revoke = Widerrufen
subscriber-revoke-of = Widerrufen: { $name }
subscriber-taken-back = { $name } ist widerrufen und hört und beantwortet nichts mehr.
subscriber-new = Abonnenten hinzufügen
subscriber-project = Dienst
subscriber-name = Name
subscriber-may-answer = Er darf für mich antworten
subscriber-high-risk = Er darf auch Aktionen mit hohem Risiko genehmigen, die sich nicht rückgängig machen lassen
subscriber-high-risk-hint = Ohne dies beantworten Sie solche Fragen auf diesen Seiten. Sie werden nach Ihrem Passwort gefragt, wenn Sie es nicht in den letzten fünf Minuten eingegeben haben.
subscriber-days = { $count ->
    [one] Er gilt einen Tag und endet früher, wenn Sie sich überall abmelden oder ein neues Passwort bekommen.
   *[other] Er gilt { $count } Tage und endet früher, wenn Sie sich überall abmelden oder ein neues Passwort bekommen.
}
subscriber-legacy = Er kann keinen Schlüssel senden; der Schlüssel soll in der Adresse stehen
subscriber-legacy-hint = Nur für alte Programme. Wer die Adresse sieht, kann alles, was das Programm kann.
subscriber-make = Schlüssel erzeugen
subscriber-error-name = Geben Sie ihm einen Namen mit höchstens 128 Zeichen.
subscriber-error-legacy = Dieser Dienst lässt keine Schlüssel in Adressen zu.
subscriber-error-listens = Ein Programm, das nur zuhört, genehmigt nichts: Lassen Sie es antworten, oder lassen Sie das weg.
subscriber-made-title = Geben Sie dem Programm diesen Schlüssel
subscriber-made-lead = „{ $name }“ kann zuhören, sobald es ihn hat.
subscriber-made-token = Schlüssel
subscriber-made-copy = Schlüssel kopieren
subscriber-made-endpoint = Adresse mit dem Schlüssel darin
subscriber-made-once = Er wird nicht wieder gezeigt. Wer ihn hat, kann alles, was das Programm kann, bis Sie ihn widerrufen.
subscriber-made-back = Zurück zum Konto

## Wenn eine Seite nicht gezeigt werden kann

trouble-bad-request-title = Diese Anfrage ist nicht zu verstehen
trouble-bad-request-what = Etwas in der Adresse oder im Formular ist falsch. Es wurde nichts geändert.
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
trouble-internal-next = Sehen Sie auf der Seite „Ihre Agenten“ nach, bevor Sie es noch einmal versuchen. Geschieht es wieder, nennen Sie der Verwaltung die Kennung der Anfrage unten.
trouble-unavailable-title = Im Augenblick nicht verfügbar
trouble-unavailable-what = Der Dienst lehnt alles ab, bis er seine Aufzeichnungen wieder führen kann.
trouble-unavailable-next = Versuchen Sie es in einer Minute wieder.
error-next = Was Sie tun können
error-request-id = Kennung der Anfrage
error-home = Startseite

## Startseite

home-title = Zustimmung für KI-Agenten
home-lead = Bei { $service } handeln KI-Agenten nur für Menschen, die zugestimmt haben: zum vereinbarten Zweck und in der vereinbarten Zeit.
home-people-heading = Für Sie
home-inbox = Fragen von Agenten ansehen und beantworten
home-agents = Ihre Agenten ansehen und Zugang entziehen
home-sign-in = Anmelden
home-account = Ihr Konto
home-machines-heading = Für Agenten und alle, die sie bauen
home-manifest = Wie sich Agenten verbinden (Manifest)
home-openapi = Die API (OpenAPI)
home-rules-heading = Worauf Sie sich verlassen können
home-rule-domain = Sie sehen zu jeder Anfrage die geprüfte Domain, nicht nur einen Namen.
home-rule-end = Entziehen Sie einem Agenten den Zugang, ist sofort Schluss.
home-rule-record = Alles, was ein Agent für Sie tut, wird aufgezeichnet, und Sie können es lesen.

## Klärungen

asked-words-rule = Von einer Regel von { $service } gefragt, weil der Plan des Agenten es offenlässt. Die eigenen Worte des Agenten stehen in Anführungszeichen.
asked-unanswered-stopped = Es bleibt offen, und der Agent bleibt angehalten.
clarified-heading = Frühere Klärungen
clarified-field = Stelle im Plan des Agenten
clarified-question = Frage
clarified-answer = Antwort
clarified-own = Eigene Antwort des Agenten: sonst hat sie niemand gegeben oder geprüft
clarified-person = Antwort eines Menschen
clarified-more = { $count ->
    [one] Es gibt noch eine weitere Antwort; sie steht im Protokoll.
   *[other] Es gibt noch { $count } weitere Antworten; alle stehen im Protokoll.
  }
clarified-record = Protokoll der Klärung
gap-heading = Der Agent ist angehalten, bis das beantwortet ist
gap-stops = Bis dahin bekommt er weder seinen Plan noch eine Bescheinigung.
gap-stops-also = Bis dahin bekommt er weder seinen Plan noch eine Bescheinigung, und angehalten ist: { $what }.
gap-planner = Planen
gap-developer = Entwickeln
gap-build = Ausführen
gap-attest = Bescheinigen
gap-field = Es geht um diese Stelle im Plan des Agenten:
gap-why = Grund der Frage
gap-may-stand = Das ist eine Warnung. Mit dem Wort accept als Antwort bleibt es, wie es ist.
abandon-heading = Klärung abbrechen?
abandon-means = Wenn Sie die Klärung abbrechen, wird niemand mehr danach gefragt, der Plan des Agenten wird nicht bestätigt, und die angehaltenen Aktionen können weiterlaufen.
abandon-button = Klärung abbrechen
gap-said = Die eigene Antwort des Agenten
gap-not-taken = Sie wurde nicht angenommen:

## Rechte über einen Zustimmungsbeleg hinaus

asked-words-scopes = Von { $service } über die eigenen Rechte geschrieben
wider-heading = Was der Aufgabe erlaubt würde
wider-until = Längstens bis
wider-task = Aufgabe
wider-yes-means = Eine Genehmigung erlaubt das für diese eine Aufgabe, bis sie endet oder ihre Zustimmung abläuft. Aufrufe, die eine Genehmigung brauchen, werden weiterhin angehalten.
wider-tasks = Mehr für einzelne Aufgaben
wider-tasks-lead = Diese Aufgaben dürfen mehr, als ihre Zustimmung umfasst. Das endet mit der Aufgabe.
wider-source = Erlaubt
wider-approved = Durch Ihre Genehmigung
wider-silent = Durch eine Regel des Dienstes, ohne Nachfrage
