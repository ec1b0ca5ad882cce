<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<TS version="2.1" language="fr" sourcelanguage="en">
<context>
    <name>CameraRows</name>
    <message>
        <source> s</source>
        <translation> s</translation>
    </message>
    <message>
        <source> min</source>
        <translation> min</translation>
    </message>
    <message>
        <source> days</source>
        <translation> jours</translation>
    </message>
    <message>
        <source> MB</source>
        <translation> Mo</translation>
    </message>
</context>
<context>
    <name>QProgressDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
</context>
<context>
    <name>Readout</name>
    <message>
        <source>m</source>
        <translation>m</translation>
    </message>
    <message>
        <source>relative, larger is nearer</source>
        <translation>relative, plus grand&#xa0;: plus près</translation>
    </message>
    <message>
        <source>relative</source>
        <translation>relative</translation>
    </message>
    <message>
        <source>%1 m</source>
        <translation>%1 m</translation>
    </message>
    <message>
        <source>%1 (relative)</source>
        <translation>%1 (relative)</translation>
    </message>
    <message>
        <source>no segment</source>
        <translation>aucun segment</translation>
    </message>
    <message>
        <source>%1, %2 %</source>
        <translation>%1, %2&#xa0;%</translation>
    </message>
    <message>
        <source>computed for this frame</source>
        <translation>calculé pour cette image</translation>
    </message>
    <message numerus="yes">
        <source>kept for %n frame(s)</source>
        <translation>
            <numerusform>conservé depuis %n image</numerusform>
            <numerusform>conservé depuis %n images</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1 min %2 s</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 h %2 min</translation>
    </message>
    <message>
        <source>%1 d %2 h</source>
        <translation>%1 j %2 h</translation>
    </message>
    <message>
        <source>hidden</source>
        <translation>masqué</translation>
    </message>
</context>
<context>
    <name>camera fields</name>
    <message>
        <source>none</source>
        <translation>rien</translation>
    </message>
    <message>
        <source>sun</source>
        <translation>soleil</translation>
    </message>
    <message>
        <source>brightness</source>
        <translation>luminosité</translation>
    </message>
    <message>
        <source>hours</source>
        <translation>heures fixes</translation>
    </message>
    <message>
        <source>By what night is told from day: the sun at the place of the camera, the brightness of the picture, or the clock</source>
        <translation>Ce qui distingue la nuit du jour&#xa0;: le soleil au lieu de la caméra, la luminosité de l’image ou l’heure</translation>
    </message>
    <message>
        <source>Night by</source>
        <translation>La nuit selon</translation>
    </message>
    <message>
        <source>Place of the camera, degrees north</source>
        <translation>Lieu de la caméra, degrés nord</translation>
    </message>
    <message>
        <source>Latitude</source>
        <translation>Latitude</translation>
    </message>
    <message>
        <source>Place of the camera, degrees east</source>
        <translation>Lieu de la caméra, degrés est</translation>
    </message>
    <message>
        <source>Longitude</source>
        <translation>Longitude</translation>
    </message>
    <message>
        <source>By the sun: night while it is lower than this above the horizon</source>
        <translation>Selon le soleil&#xa0;: nuit tant qu’il est plus bas que cette hauteur sur l’horizon</translation>
    </message>
    <message>
        <source>Night when the sun is below</source>
        <translation>Nuit quand le soleil est sous</translation>
    </message>
    <message>
        <source>By the brightness: night below this mean grey value</source>
        <translation>Selon la luminosité&#xa0;: nuit sous cette valeur moyenne de gris</translation>
    </message>
    <message>
        <source>Night below the brightness</source>
        <translation>Nuit sous la luminosité</translation>
    </message>
    <message>
        <source>By the brightness: day above this mean grey value</source>
        <translation>Selon la luminosité&#xa0;: jour au-dessus de cette valeur moyenne de gris</translation>
    </message>
    <message>
        <source>Day above the brightness</source>
        <translation>Jour au-dessus de la luminosité</translation>
    </message>
    <message>
        <source>By the clock of the camera: 21:00-06:30</source>
        <translation>Selon l’heure de la caméra&#xa0;: 21:00-06:30</translation>
    </message>
    <message>
        <source>Night hours</source>
        <translation>Heures de la nuit</translation>
    </message>
    <message>
        <source>Delete samples, events and snapshots of this source after so many days; means of hours stay</source>
        <translation>Efface les échantillons, événements et images de cette source après ce nombre de jours&#xa0;; les moyennes des heures restent</translation>
    </message>
    <message>
        <source>Forget samples older than</source>
        <translation>Oublier les échantillons de plus de</translation>
    </message>
    <message>
        <source>Delete the oldest samples, of each camera in it, when the database grows larger</source>
        <translation>Efface les échantillons les plus anciens, de chacune de ses caméras, quand la base de données dépasse cette taille</translation>
    </message>
    <message>
        <source>Forget the oldest samples above</source>
        <translation>Oublier les plus anciens au-delà de</translation>
    </message>
    <message>
        <source>How often a picture is written</source>
        <translation>À quel intervalle une image est enregistrée</translation>
    </message>
    <message>
        <source>Time-lapse: one picture every</source>
        <translation>Intervallomètre&#xa0;: une image toutes les</translation>
    </message>
    <message>
        <source>Delete snapshots of this source after so many days</source>
        <translation>Efface les images de cette source après ce nombre de jours</translation>
    </message>
    <message>
        <source>Forget pictures older than</source>
        <translation>Oublier les images de plus de</translation>
    </message>
    <message>
        <source>Delete the oldest snapshots of this source while their disk has less free space</source>
        <translation>Efface les images les plus anciennes de cette source tant que leur disque a moins d’espace libre</translation>
    </message>
    <message>
        <source>Forget the oldest pictures to leave free</source>
        <translation>Oublier les plus anciennes pour laisser libres</translation>
    </message>
    <message>
        <source>Ring when a number leaves its limit: &apos;car&gt;20&apos;, percent of the picture; &apos;tree:gcc&lt;0.35&apos;, &apos;lake:ice&gt;20&apos;, of a region; &apos;tokens&gt;900&apos;; &apos;no-frame&gt;60&apos;, seconds; or when a state begins: &apos;gate=open&apos;</source>
        <translation>Alarme quand un nombre passe sa limite&#xa0;: &apos;car&gt;20&apos;, pour cent de l’image&#xa0;; &apos;tree:gcc&lt;0.35&apos;, &apos;lake:ice&gt;20&apos;, d’une région&#xa0;; &apos;tokens&gt;900&apos;&#xa0;; &apos;no-frame&gt;60&apos;, secondes&#xa0;; ou quand un état commence&#xa0;: &apos;gate=open&apos;</translation>
    </message>
    <message>
        <source>Alarms, one a line</source>
        <translation>Alarmes, une par ligne</translation>
    </message>
    <message>
        <source>How long a number must stay beyond its limit before its alarm rings</source>
        <translation>Combien de temps un nombre doit rester au-delà de sa limite avant l’alarme</translation>
    </message>
    <message>
        <source>They ring after</source>
        <translation>Alarme après</translation>
    </message>
    <message>
        <source>Which pictures are flagged, so that &apos;mpm report&apos; leaves them out. dark=25: less than 1 % of the pixels exceed this grey level; white=50: more percent of them are white; contrast=3, sharp=0: they have less. pictures=5: so many flagged ones in a row are an event. Several keys are joined by &apos;:&apos;. See docs/monitor.md</source>
        <translation>Quelles images sont marquées, de sorte que &apos;mpm report&apos; les laisse de côté. dark=25&#xa0;: moins de 1&#xa0;% des pixels dépassent ce niveau de gris&#xa0;; white=50&#xa0;: plus de pour cent d’entre eux sont blancs&#xa0;; contrast=3, sharp=0&#xa0;: elles en ont moins. pictures=5&#xa0;: autant d’images marquées de suite font un événement. Plusieurs clés sont jointes par &apos;:&apos;. Voir docs/monitor.md</translation>
    </message>
    <message>
        <source>Bad pictures</source>
        <translation>Mauvaises images</translation>
    </message>
    <message>
        <source>Run this program for each event: a program and its arguments, no shell. The facts are in MPM_EVENT_KIND, _SEVERITY, _MESSAGE, _TIME and _SOURCE, and as JSON on its standard input. See docs/monitor.md</source>
        <translation>Lance ce programme à chaque événement&#xa0;: un programme et ses arguments, sans shell. Les faits sont dans MPM_EVENT_KIND, _SEVERITY, _MESSAGE, _TIME et _SOURCE, et en JSON sur son entrée standard. Voir docs/monitor.md</translation>
    </message>
    <message>
        <source>Run for each event</source>
        <translation>À lancer à chaque événement</translation>
    </message>
    <message>
        <source>The zone of times without an offset: +01:00 all year, or a name such as Europe/Paris, with its summer time</source>
        <translation>Le fuseau des dates sans décalage&#xa0;: +01:00 toute l’année, ou un nom comme Europe/Paris, avec son heure d’été</translation>
    </message>
    <message>
        <source>Write the merge map of each snapshot as a picture, too</source>
        <translation>Écrire aussi la carte de fusion de chaque instantané comme image</translation>
    </message>
    <message>
        <source>With a picture of the merge map</source>
        <translation>Avec une image de la carte de fusion</translation>
    </message>
</context>
<context>
    <name>moments</name>
    <message>
        <source>highest sun</source>
        <translation>soleil au plus haut</translation>
    </message>
    <message>
        <source>sun at 20°, morning</source>
        <translation>soleil à 20°, le matin</translation>
    </message>
    <message>
        <source>sun at 20°, evening</source>
        <translation>soleil à 20°, le soir</translation>
    </message>
    <message>
        <source>sun at 5°, morning</source>
        <translation>soleil à 5°, le matin</translation>
    </message>
    <message>
        <source>sun at 5°, evening</source>
        <translation>soleil à 5°, le soir</translation>
    </message>
</context>
<context>
    <name>mpm::gui::ActionRegistry</name>
    <message>
        <source>Keys</source>
        <translation>Touches</translation>
    </message>
    <message>
        <source>Arrow keys</source>
        <translation>Flèches</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Espace</translation>
    </message>
    <message>
        <source>+  −  0</source>
        <translation>+  −  0</translation>
    </message>
    <message>
        <source>Wheel, drag</source>
        <translation>Molette, glisser</translation>
    </message>
    <message>
        <source>Zoom, move</source>
        <translation>Agrandir, déplacer</translation>
    </message>
    <message>
        <source>Double click</source>
        <translation>Double clic</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Entrée</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Touche</translation>
    </message>
    <message>
        <source>What it does</source>
        <translation>Ce qu’elle fait</translation>
    </message>
    <message>
        <source>Shift+Enter</source>
        <translation>Maj+Entrée</translation>
    </message>
    <message>
        <source>About MPM Monitor</source>
        <translation>À propos du moniteur MPM</translation>
    </message>
    <message>
        <source>&lt;b&gt;MPM Monitor %1&lt;/b&gt;&lt;p&gt;Live segmentation, merge maps and day/night token counts for a camera on a fixed scene.&lt;/p&gt;&lt;p&gt;Method: Mutual Pair Merging for Efficient Vision Transformers, CVPR 2026.&lt;/p&gt;&lt;p&gt;OpenCV %2, Qt %3, %4&lt;/p&gt;&lt;p&gt;Apache License 2.0&lt;/p&gt;</source>
        <translation>&lt;b&gt;Moniteur MPM %1&lt;/b&gt;&lt;p&gt;Segmentation en direct, cartes de fusion et nombre de jetons de jour et de nuit pour une caméra fixe.&lt;/p&gt;&lt;p&gt;Méthode&#xa0;: Mutual Pair Merging for Efficient Vision Transformers, CVPR 2026.&lt;/p&gt;&lt;p&gt;OpenCV %2, Qt %3, %4&lt;/p&gt;&lt;p&gt;Licence Apache 2.0&lt;/p&gt;</translation>
    </message>
    <message>
        <source>Space, Enter</source>
        <translation>Espace, Entrée</translation>
    </message>
    <message>
        <source>Ctrl+Z, Ctrl+Shift+Z</source>
        <translation>Ctrl+Z, Ctrl+Maj+Z</translation>
    </message>
    <message>
        <source>Page up, page down</source>
        <translation>Page précédente, page suivante</translation>
    </message>
    <message>
        <source>In a picture or the chart</source>
        <translation>Dans une image ou le graphique</translation>
    </message>
    <message>
        <source>Move the patch cursor</source>
        <translation>Déplacer le curseur de carrés</translation>
    </message>
    <message>
        <source>Pin the patch</source>
        <translation>Épingler le carré</translation>
    </message>
    <message>
        <source>Zoom in, out, all of it</source>
        <translation>Agrandir, réduire, tout voir</translation>
    </message>
    <message>
        <source>In a list</source>
        <translation>Dans une liste</translation>
    </message>
    <message>
        <source>Legend: show one class alone</source>
        <translation>Légende&#xa0;: montrer une classe seule</translation>
    </message>
    <message>
        <source>Legend: show the current class alone</source>
        <translation>Légende&#xa0;: montrer seule la classe courante</translation>
    </message>
    <message>
        <source>Legend: change a colour; events: go to that time</source>
        <translation>Légende&#xa0;: changer une couleur&#xa0;; événements&#xa0;: aller à ce moment</translation>
    </message>
    <message>
        <source>Teaching</source>
        <translation>Apprendre</translation>
    </message>
    <message>
        <source>Choose a class</source>
        <translation>Choisir une classe</translation>
    </message>
    <message>
        <source>Cluster, brush, polygon, eraser, accept, move</source>
        <translation>Groupe, pinceau, polygone, gomme, accepter, déplacer</translation>
    </message>
    <message>
        <source>Smaller, larger brush</source>
        <translation>Pinceau plus petit, plus grand</translation>
    </message>
    <message>
        <source>Show where the model is not sure</source>
        <translation>Montrer où le modèle n’est pas sûr</translation>
    </message>
    <message>
        <source>Draw at the cross of the arrow keys; close the polygon</source>
        <translation>Dessiner à la croix des flèches&#xa0;; fermer le polygone</translation>
    </message>
    <message>
        <source>Undo, redo</source>
        <translation>Annuler, rétablir</translation>
    </message>
    <message>
        <source>Previous, next picture</source>
        <translation>Image précédente, suivante</translation>
    </message>
    <message>
        <source>Drawing regions</source>
        <translation>Dessiner des régions</translation>
    </message>
    <message>
        <source>Arrow keys, Shift</source>
        <translation>Flèches, Maj</translation>
    </message>
    <message>
        <source>Move the cross; by one pixel</source>
        <translation>Déplacer la croix&#xa0;; d’un pixel</translation>
    </message>
    <message>
        <source>Set or grab a corner; close the polygon</source>
        <translation>Poser ou saisir un sommet&#xa0;; fermer le polygone</translation>
    </message>
    <message>
        <source>Backspace, Esc</source>
        <translation>Retour arrière, Échap</translation>
    </message>
    <message>
        <source>Take a corner back; drop the polygon</source>
        <translation>Reprendre un sommet&#xa0;; abandonner le polygone</translation>
    </message>
    <message>
        <source>Enter, Delete</source>
        <translation>Entrée, Suppr</translation>
    </message>
    <message>
        <source>Labels: go to their picture, remove them</source>
        <translation>Étiquettes&#xa0;: aller à leur image, les supprimer</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Fichier</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Affichage</translation>
    </message>
    <message>
        <source>&amp;Watch</source>
        <translation>&amp;Surveiller</translation>
    </message>
    <message>
        <source>&amp;Panels</source>
        <translation>Pa&amp;nneaux</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>A&amp;ide</translation>
    </message>
</context>
<context>
    <name>mpm::gui::CalendarPanel</name>
    <message>
        <source>Year</source>
        <translation>Année</translation>
    </message>
    <message>
        <source>Picture of a day</source>
        <translation>Image d’un jour</translation>
    </message>
    <message>
        <source>Colour of a day</source>
        <translation>Couleur d’un jour</translation>
    </message>
    <message>
        <source>Day</source>
        <translation>Jour</translation>
    </message>
    <message>
        <source>Days of the year</source>
        <translation>Jours de l’année</translation>
    </message>
    <message>
        <source>A click on a day, or the arrow keys and Enter, show its picture</source>
        <translation>Un clic sur un jour, ou les flèches et Entrée, montrent son image</translation>
    </message>
    <message>
        <source>Area of %1</source>
        <translation>Surface de %1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1&#xa0;: %2</translation>
    </message>
</context>
<context>
    <name>mpm::gui::CalendarView</name>
    <message>
        <source>, picture of %1</source>
        <translation>, image de %1</translation>
    </message>
</context>
<context>
    <name>mpm::gui::CameraConfigs</name>
    <message>
        <source>%1. Until it is mended, what is chosen counts for this run only</source>
        <translation>%1. Tant que le fichier n’est pas corrigé, les choix ne valent que jusqu’à la fermeture</translation>
    </message>
</context>
<context>
    <name>mpm::gui::CameraControl</name>
    <message>
        <source>No model yet: choose one with Ctrl+M, or drop an ONNX file here</source>
        <translation>Pas encore de modèle&#xa0;: choisissez-en un avec Ctrl+M, ou déposez un fichier ONNX ici</translation>
    </message>
    <message>
        <source>The source has come to its end: nothing is left to pause. %1 plays it again</source>
        <translation>La source est arrivée à sa fin&#xa0;: il n’y a plus rien à mettre en pause. %1 la rejoue</translation>
    </message>
    <message>
        <source>The folder has come to its end: nothing is left to pause. %1 and %2 go through its pictures, %3 plays it again</source>
        <translation>Le dossier est arrivé à sa fin&#xa0;: il n’y a plus rien à mettre en pause. %1 et %2 parcourent ses images, %3 le rejoue</translation>
    </message>
    <message>
        <source>Source: %1</source>
        <translation>Source&#xa0;: %1</translation>
    </message>
    <message>
        <source>%1: the last frame is %2 old</source>
        <translation>%1&#xa0;: la dernière image date de %2</translation>
    </message>
    <message>
        <source>Open a source first: each has its own</source>
        <translation>Ouvrez d’abord une source&#xa0;: chacune a les siens</translation>
    </message>
    <message>
        <source>Copied: %1</source>
        <translation>Copié&#xa0;: %1</translation>
    </message>
</context>
<context>
    <name>mpm::gui::CameraDialogs</name>
    <message>
        <source>Pictures are in %1</source>
        <translation>Les images sont dans %1</translation>
    </message>
    <message>
        <source>Samples are not stored.</source>
        <translation>Les échantillons ne sont pas enregistrés.</translation>
    </message>
    <message>
        <source>Samples are in %1; the means of hours and days stay.</source>
        <translation>Les échantillons sont dans %1&#xa0;; les moyennes des heures et des jours restent.</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 – %2</translation>
    </message>
</context>
<context>
    <name>mpm::gui::CameraFieldsDialog</name>
    <message>
        <source>Test it</source>
        <translation>Essayer</translation>
    </message>
    <message>
        <source>Runs the command once, as for an alarm</source>
        <translation>Exécute la commande une fois, comme pour une alarme</translation>
    </message>
    <message>
        <source>Result of the test</source>
        <translation>Résultat de l’essai</translation>
    </message>
    <message>
        <source>Running…</source>
        <translation>En cours…</translation>
    </message>
    <message>
        <source>It ran without an error</source>
        <translation>Elle s’est exécutée sans erreur</translation>
    </message>
</context>
<context>
    <name>mpm::gui::CamerasPage</name>
    <message>
        <source>Cameras</source>
        <translation>Caméras</translation>
    </message>
    <message>
        <source>▲ cannot be read</source>
        <translation>▲ illisible</translation>
    </message>
</context>
<context>
    <name>mpm::gui::ChartPanel</name>
    <message>
        <source>Chart over time</source>
        <translation>Graphique dans le temps</translation>
    </message>
    <message>
        <source>Source whose samples are drawn</source>
        <translation>Source dont les échantillons sont tracés</translation>
    </message>
    <message>
        <source>Keep the end of the chart at the present</source>
        <translation>Garder la fin du graphique au présent</translation>
    </message>
    <message>
        <source>Hour</source>
        <translation>Heure</translation>
    </message>
    <message>
        <source>Show the last hour</source>
        <translation>Montrer la dernière heure</translation>
    </message>
    <message>
        <source>Day</source>
        <translation>Jour</translation>
    </message>
    <message>
        <source>Show the last day</source>
        <translation>Montrer le dernier jour</translation>
    </message>
    <message>
        <source>Week</source>
        <translation>Semaine</translation>
    </message>
    <message>
        <source>Show the last week</source>
        <translation>Montrer la dernière semaine</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Tout</translation>
    </message>
    <message>
        <source>Show everything that is stored</source>
        <translation>Montrer tout ce qui est enregistré</translation>
    </message>
    <message>
        <source>Area of %1</source>
        <translation>Surface de %1</translation>
    </message>
    <message>
        <source>Region whose numbers are drawn</source>
        <translation>Région dont les valeurs sont tracées</translation>
    </message>
    <message>
        <source>Whole picture</source>
        <translation>Image entière</translation>
    </message>
    <message>
        <source>Values</source>
        <translation>Valeurs</translation>
    </message>
    <message>
        <source>Choose the numbers that are drawn</source>
        <translation>Choisir les nombres tracés</translation>
    </message>
    <message>
        <source>Areas</source>
        <translation>Surfaces</translation>
    </message>
    <message>
        <source>Choose the classes whose share of the picture is drawn</source>
        <translation>Choisir les classes dont la part de l’image est tracée</translation>
    </message>
</context>
<context>
    <name>mpm::gui::ChartScene</name>
    <message>
        <source>Choose what to draw above</source>
        <translation>Choisissez ci-dessus ce qu’il faut tracer</translation>
    </message>
    <message>
        <source>No samples in this stretch of time</source>
        <translation>Aucun échantillon dans cette période</translation>
    </message>
    <message>
        <source>night</source>
        <translation>nuit</translation>
    </message>
    <message>
        <source>lowest to highest</source>
        <translation>du plus bas au plus haut</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1&#xa0;: %2</translation>
    </message>
    <message>
        <source>nothing recorded</source>
        <translation>rien d’enregistré</translation>
    </message>
    <message>
        <source>nearest: %1</source>
        <translation>au plus près&#xa0;: %1</translation>
    </message>
</context>
<context>
    <name>mpm::gui::ComparePanel</name>
    <message>
        <source>Each frame is processed twice, so fewer frames a second are</source>
        <translation>Chaque image est traitée deux fois&#xa0;: il y en a moins par seconde</translation>
    </message>
    <message>
        <source>Pixels whose class differs</source>
        <translation>Pixels dont la classe diffère</translation>
    </message>
    <message>
        <source>Waiting for the first frame…</source>
        <translation>En attente de la première image…</translation>
    </message>
    <message>
        <source>No comparison: %1</source>
        <translation>Pas de comparaison&#xa0;: %1</translation>
    </message>
    <message>
        <source>Compare with another reduction</source>
        <translation>Comparer avec une autre réduction</translation>
    </message>
    <message>
        <source>Reduction</source>
        <translation>Réduction</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Temps</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Jetons</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>En direct</translation>
    </message>
    <message>
        <source>Compared</source>
        <translation>Comparée</translation>
    </message>
    <message>
        <source>Shows how far a reduction changes the labels of the very same frame, and its time.</source>
        <translation>Montre à quel point une réduction change les classes de la même image, et son temps.</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>This model gives no labels to compare.</source>
        <translation>Ce modèle ne donne pas de classes à comparer.</translation>
    </message>
    <message>
        <source>Same label on %1 % of the pixels. Orange: the label differs</source>
        <translation>Même classe sur %1&#xa0;% des pixels. Orange&#xa0;: la classe diffère</translation>
    </message>
    <message>
        <source>The depths differ by %1 % of their range on average.</source>
        <translation>Les profondeurs diffèrent en moyenne de %1&#xa0;% de leur étendue.</translation>
    </message>
    <message>
        <source>The live one is %1 times as fast.</source>
        <translation>Celle en direct est %1 fois plus rapide.</translation>
    </message>
    <message>
        <source>The live one reused rows: it computed %1 % of them.</source>
        <translation>Celle en direct réutilise des lignes&#xa0;: elle en a calculé %1&#xa0;%.</translation>
    </message>
</context>
<context>
    <name>mpm::gui::DayNightPanel</name>
    <message>
        <source>There are not samples of both day and night yet.</source>
        <translation>Il n’y a pas encore d’échantillons à la fois de jour et de nuit.</translation>
    </message>
    <message>
        <source>Night − day: %1 tokens; too little time to tell how certain that is.</source>
        <translation>Nuit − jour&#xa0;: %1 jetons&#xa0;; trop peu de temps pour dire avec quelle certitude.</translation>
    </message>
    <message>
        <source>Night − day: %1 ± %2 tokens</source>
        <translation>Nuit − jour&#xa0;: %1 ± %2 jetons</translation>
    </message>
    <message>
        <source>%1 days, %2 nights</source>
        <translation>%1 jours, %2 nuits</translation>
    </message>
    <message>
        <source>%1 hours of day, %2 of night</source>
        <translation>%1 heures de jour, %2 de nuit</translation>
    </message>
    <message>
        <source>%1: they differ (95 % interval, %2).</source>
        <translation>%1&#xa0;: ils diffèrent (intervalle à 95&#xa0;%, %2).</translation>
    </message>
    <message>
        <source>%1: no difference shown (95 % interval, %2).</source>
        <translation>%1&#xa0;: aucune différence établie (intervalle à 95&#xa0;%, %2).</translation>
    </message>
    <message>
        <source>Night: the sun lower than %1° at %2°, %3°</source>
        <translation>Nuit&#xa0;: soleil sous %1° à %2°, %3°</translation>
    </message>
    <message>
        <source>Night: from %1 to %2</source>
        <translation>Nuit&#xa0;: de %1 à %2</translation>
    </message>
    <message>
        <source>Day and night are not distinguished.</source>
        <translation>Le jour et la nuit ne sont pas distingués.</translation>
    </message>
    <message>
        <source>Day</source>
        <translation>Jour</translation>
    </message>
    <message>
        <source>Night</source>
        <translation>Nuit</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>Moyenne</translation>
    </message>
    <message>
        <source>Median</source>
        <translation>Médiane</translation>
    </message>
    <message>
        <source>90 % below</source>
        <translation>90&#xa0;% en dessous de</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>Échantillons</translation>
    </message>
    <message>
        <source>Since yesterday</source>
        <translation>Depuis hier</translation>
    </message>
    <message>
        <source>Day and night…</source>
        <translation>Jour et nuit…</translation>
    </message>
    <message>
        <source>Choose what counts as night: the sun, the brightness, or fixed hours</source>
        <translation>Choisir ce qui compte comme nuit&#xa0;: le soleil, la luminosité ou des heures fixes</translation>
    </message>
    <message>
        <source>Share of the picture of each class</source>
        <translation>Part de l’image de chaque classe</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Classe</translation>
    </message>
    <message>
        <source>Corr.</source>
        <translation>Corr.</translation>
    </message>
    <message>
        <source>IoU</source>
        <translation>IoU</translation>
    </message>
    <message>
        <source>Corrected: day and night together, without the errors that the cross-validation of the model found: what it confused there moves to the true classes</source>
        <translation>Corrigé&#xa0;: jour et nuit ensemble, sans les erreurs trouvées par la validation croisée du modèle&#xa0;: ce qu’il y a confondu passe aux vraies classes</translation>
    </message>
    <message>
        <source>Of the class in the cross-validation of the model, in percent</source>
        <translation>De la classe dans la validation croisée du modèle, en pour cent</translation>
    </message>
    <message>
        <source>All samples count as day, with a brightness from %1 to %2 of 255. If some were taken at night, change the rule.</source>
        <translation>Tous les échantillons comptent comme jour, avec une luminosité de %1 à %2 sur 255. Si certains ont été pris de nuit, changez la règle.</translation>
    </message>
    <message>
        <source>All samples count as night, with a brightness from %1 to %2 of 255. If some were taken by day, change the rule.</source>
        <translation>Tous les échantillons comptent comme nuit, avec une luminosité de %1 à %2 sur 255. Si certains ont été pris de jour, changez la règle.</translation>
    </message>
    <message>
        <source>Day and night as they were stored.</source>
        <translation>Jour et nuit tels qu’ils ont été enregistrés.</translation>
    </message>
    <message>
        <source>Stretch</source>
        <translation>Période</translation>
    </message>
    <message>
        <source>Share of the picture in percent</source>
        <translation>Part de l’image en pour cent</translation>
    </message>
    <message>
        <source>Tokens kept, %1 to %2</source>
        <translation>Jetons gardés, du %1 au %2</translation>
    </message>
    <message>
        <source>Tokens kept</source>
        <translation>Jetons gardés</translation>
    </message>
    <message>
        <source>Night where %1</source>
        <translation>Nuit quand %1</translation>
    </message>
    <message>
        <source>Night: the picture darker than %1 of 255, until it is brighter than %2</source>
        <translation>Nuit&#xa0;: image plus sombre que %1 sur 255, jusqu’à dépasser %2</translation>
    </message>
    <message>
        <source>Measured by %1</source>
        <translation>Mesuré par %1</translation>
    </message>
</context>
<context>
    <name>mpm::gui::EventsModel</name>
    <message>
        <source>Info</source>
        <translation>Information</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Avertissement</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Erreur</translation>
    </message>
    <message>
        <source>Session</source>
        <translation>Session</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Source</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modèle</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Stockage</translation>
    </message>
    <message>
        <source>Clock</source>
        <translation>Horloge</translation>
    </message>
    <message>
        <source>Alarm</source>
        <translation>Alarme</translation>
    </message>
    <message>
        <source>Alarm ended</source>
        <translation>Fin d’alarme</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Heure</translation>
    </message>
    <message>
        <source>Severity</source>
        <translation>Gravité</translation>
    </message>
    <message>
        <source>About</source>
        <translation>Sujet</translation>
    </message>
    <message>
        <source>What happened</source>
        <translation>Ce qui s’est passé</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Vue</translation>
    </message>
    <message>
        <source>Reuse</source>
        <translation>Réutilisation</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>Qualité</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Commande</translation>
    </message>
    <message>
        <source>State</source>
        <translation>État</translation>
    </message>
    <message>
        <source>Heartbeat</source>
        <translation>Signe de vie</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>Messages</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>Résumé</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Événements</translation>
    </message>
    <message>
        <source>Damaged picture</source>
        <translation>Image abîmée</translation>
    </message>
</context>
<context>
    <name>mpm::gui::ExportDialog</name>
    <message>
        <source>Export</source>
        <translation>Exporter</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>CSV, one row per sample</source>
        <translation>CSV, une ligne par échantillon</translation>
    </message>
    <message>
        <source>JSON Lines</source>
        <translation>JSON Lines</translation>
    </message>
    <message>
        <source>The chart as a PNG picture</source>
        <translation>Le graphique en image PNG</translation>
    </message>
    <message>
        <source>The stretch of time on show</source>
        <translation>La période affichée</translation>
    </message>
    <message>
        <source>Everything that is stored of it</source>
        <translation>Tout ce qui en est enregistré</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>Échantillons</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Enregistrer…</translation>
    </message>
    <message>
        <source>Source: %1</source>
        <translation>Source&#xa0;: %1</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Source</translation>
    </message>
</context>
<context>
    <name>mpm::gui::Exports</name>
    <message>
        <source>Exporting to %1…</source>
        <translation>Export vers %1…</translation>
    </message>
    <message>
        <source>The export was cancelled; %1 is as it was</source>
        <translation>L’export a été annulé&#xa0;; %1 est inchangé</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) exported to %1</source>
        <translation>
            <numerusform>%n échantillon exporté vers %1</numerusform>
            <numerusform>%n échantillons exportés vers %1</numerusform>
        </translation>
    </message>
    <message>
        <source>The chart was saved to %1</source>
        <translation>Le graphique a été enregistré dans %1</translation>
    </message>
    <message>
        <source>Export to</source>
        <translation>Exporter vers</translation>
    </message>
    <message>
        <source>There are no samples to export yet</source>
        <translation>Il n’y a pas encore d’échantillons à exporter</translation>
    </message>
    <message>
        <source>%1, in %2</source>
        <translation>%1, dans %2</translation>
    </message>
    <message>
        <source>No sample lies in that time: %1 was not written</source>
        <translation>Aucun échantillon dans cette période&#xa0;: %1 n’a pas été écrit</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportation</translation>
    </message>
    <message>
        <source>Give it up</source>
        <translation>Abandonner</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Continuer</translation>
    </message>
    <message>
        <source>There is no database to export from yet</source>
        <translation>Il n’y a pas encore de base de données à exporter</translation>
    </message>
    <message>
        <source>An export, a measurement, a training or a new rule of night is not done. Give it up, and leave what is stored as it was?</source>
        <translation>Une exportation, une mesure, un entraînement ou une nouvelle règle de nuit est en cours. L’abandonner et laisser tel quel ce qui est enregistré&#xa0;?</translation>
    </message>
</context>
<context>
    <name>mpm::gui::FolderBar</name>
    <message>
        <source>Picture of the folder</source>
        <translation>Image du dossier</translation>
    </message>
    <message>
        <source>Picture on show</source>
        <translation>Image affichée</translation>
    </message>
    <message>
        <source>%1 of %2  ·  %3</source>
        <translation>%1 sur %2  ·  %3</translation>
    </message>
</context>
<context>
    <name>mpm::gui::History</name>
    <message>
        <source>Last sample: %1</source>
        <translation>Dernière mesure&#xa0;: %1</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>inconnu</translation>
    </message>
    <message>
        <source>no gaps</source>
        <translation>aucune lacune</translation>
    </message>
    <message numerus="yes">
        <source>%n gap(s), the longest of %1</source>
        <translation>
            <numerusform>%n lacune, longue de %1</numerusform>
            <numerusform>%n lacunes, la plus longue de %1</numerusform>
        </translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1&#xa0;: %2</translation>
    </message>
</context>
<context>
    <name>mpm::gui::HistoryViews</name>
    <message>
        <source>Chart: last &amp;hour</source>
        <translation>Graphique&#xa0;: dernière &amp;heure</translation>
    </message>
    <message>
        <source>Chart: last &amp;day</source>
        <translation>Graphique&#xa0;: dernier &amp;jour</translation>
    </message>
    <message>
        <source>Chart: last &amp;week</source>
        <translation>Graphique&#xa0;: dernière sem&amp;aine</translation>
    </message>
    <message>
        <source>Chart: &amp;everything</source>
        <translation>Graphique&#xa0;: t&amp;out</translation>
    </message>
    <message>
        <source>Ctrl+%1</source>
        <translation>Ctrl+%1</translation>
    </message>
</context>
<context>
    <name>mpm::gui::HistoryWindow</name>
    <message>
        <source>&amp;Window that watches</source>
        <translation>Fe&amp;nêtre qui surveille</translation>
    </message>
    <message>
        <source>Ctrl+Shift+B</source>
        <translation>Ctrl+Shift+B</translation>
    </message>
    <message>
        <source>All c&amp;ameras of the watch file</source>
        <translation>Toutes les c&amp;améras du fichier de surveillance</translation>
    </message>
    <message>
        <source>W</source>
        <translation>W</translation>
    </message>
    <message>
        <source>Pre&amp;vious camera</source>
        <translation>Caméra &amp;précédente</translation>
    </message>
    <message>
        <source>Ctrl+PgUp</source>
        <translation>Ctrl+PgUp</translation>
    </message>
    <message>
        <source>Ne&amp;xt camera</source>
        <translation>Caméra suivan&amp;te</translation>
    </message>
    <message>
        <source>Ctrl+PgDown</source>
        <translation>Ctrl+PgDown</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation>E&amp;xporter…</translation>
    </message>
    <message>
        <source>Ctrl+E</source>
        <translation>Ctrl+E</translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation>&amp;Fermer</translation>
    </message>
    <message>
        <source>&amp;Keys</source>
        <translation>&amp;Touches</translation>
    </message>
    <message>
        <source>?</source>
        <translation>?</translation>
    </message>
    <message>
        <source>Legend</source>
        <translation>Légende</translation>
    </message>
    <message>
        <source>Day/night</source>
        <translation>Jour/nuit</translation>
    </message>
    <message>
        <source>Chart</source>
        <translation>Graphique</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Événements</translation>
    </message>
    <message>
        <source>Calendar</source>
        <translation>Calendrier</translation>
    </message>
    <message>
        <source>Back to the &amp;last picture</source>
        <translation>&amp;Dernière image</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Whole p&amp;icture</source>
        <translation>Image &amp;entière</translation>
    </message>
    <message>
        <source>Ctrl+0</source>
        <translation>Ctrl+0</translation>
    </message>
    <message>
        <source>No sample was read yet</source>
        <translation>Aucun échantillon n’a encore été lu</translation>
    </message>
    <message>
        <source>There is no %1 yet: what is written to it will be shown</source>
        <translation>%1 n’existe pas encore&#xa0;: ce qui y sera écrit sera affiché</translation>
    </message>
    <message>
        <source>%1 – MPM Monitor</source>
        <translation>%1 – Moniteur MPM</translation>
    </message>
    <message>
        <source>%1, stored in %2 – MPM Monitor</source>
        <translation>%1, enregistré dans %2 – Moniteur MPM</translation>
    </message>
</context>
<context>
    <name>mpm::gui::IconBar</name>
    <message>
        <source>Tools</source>
        <translation>Outils</translation>
    </message>
</context>
<context>
    <name>mpm::gui::ImagePane</name>
    <message>
        <source>Image with classes</source>
        <translation>Image avec les classes</translation>
    </message>
    <message>
        <source>Frame on show</source>
        <translation>Image affichée</translation>
    </message>
    <message>
        <source>Waiting for the first frame…</source>
        <translation>En attente de la première image…</translation>
    </message>
    <message>
        <source>%1 × %2 px</source>
        <translation>%1 × %2 px</translation>
    </message>
    <message>
        <source>%1 × %2 px (width × height)</source>
        <translation>%1 × %2 px (largeur × hauteur)</translation>
    </message>
</context>
<context>
    <name>mpm::gui::ImageView</name>
    <message>
        <source>Every patch is computed for each frame. Start with --reuse auto to compute only those that changed.</source>
        <translation>Chaque carré est calculé pour chaque image. Lancez avec --reuse auto pour ne calculer que ceux qui ont changé.</translation>
    </message>
    <message>
        <source>A key frame: every patch was computed.</source>
        <translation>Image clé&#xa0;: tous les carrés ont été calculés.</translation>
    </message>
    <message>
        <source>%1 % of the patches, those outlined, were computed for this frame. Dark ones are kept from earlier frames.</source>
        <translation>%1&#xa0;% des carrés, ceux qui sont entourés, ont été calculés pour cette image. Les carrés sombres viennent d’images précédentes.</translation>
    </message>
    <message>
        <source>%1 %2 %</source>
        <translation>%1 %2&#xa0;%</translation>
    </message>
</context>
<context>
    <name>mpm::gui::InspectorPanel</name>
    <message>
        <source>Point at a picture, or move the patch cursor with the arrow keys. A click pins the patch.</source>
        <translation>Pointez une image, ou déplacez le curseur de carrés avec les flèches. Un clic épingle le carré.</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Classe</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>Score</translation>
    </message>
    <message>
        <source>Cluster</source>
        <translation>Groupe</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Taille</translation>
    </message>
    <message>
        <source>Merged</source>
        <translation>Fusionnés</translation>
    </message>
    <message>
        <source>Similarity</source>
        <translation>Similarité</translation>
    </message>
    <message>
        <source>Patch</source>
        <translation>Carré</translation>
    </message>
    <message>
        <source>Pinned: click it again to let go</source>
        <translation>Épinglé&#xa0;: recliquez pour le libérer</translation>
    </message>
    <message>
        <source>none: this model does not segment</source>
        <translation>aucune&#xa0;: ce modèle ne segmente pas</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1&#xa0;%</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>inconnu</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message numerus="yes">
        <source>%n patch(es)</source>
        <translation>
            <numerusform>%n carré</numerusform>
            <numerusform>%n carrés</numerusform>
        </translation>
    </message>
    <message>
        <source>not yet</source>
        <translation>pas encore</translation>
    </message>
    <message>
        <source>before block %1</source>
        <translation>avant le bloc %1</translation>
    </message>
    <message>
        <source>%1 with its pair</source>
        <translation>%1 avec sa paire</translation>
    </message>
    <message>
        <source>no pair</source>
        <translation>pas de paire</translation>
    </message>
    <message>
        <source>row %1, column %2</source>
        <translation>ligne %1, colonne %2</translation>
    </message>
    <message>
        <source>in block %1</source>
        <translation>dans le bloc %1</translation>
    </message>
    <message>
        <source>At this place</source>
        <translation>À cet endroit</translation>
    </message>
    <message>
        <source>Reuse</source>
        <translation>Réutilisation</translation>
    </message>
    <message>
        <source>hidden</source>
        <translation>masqué</translation>
    </message>
    <message>
        <source>not known: another class reaches the middle</source>
        <translation>inconnu&#xa0;: une autre classe touche le milieu</translation>
    </message>
</context>
<context>
    <name>mpm::gui::Judging</name>
    <message>
        <source>Day and night</source>
        <translation>Jour et nuit</translation>
    </message>
    <message>
        <source>Judging day and night of what is stored…</source>
        <translation>Distinction du jour et de la nuit dans ce qui est enregistré…</translation>
    </message>
    <message>
        <source>What is stored keeps its day and night; new samples are judged by the new rule</source>
        <translation>Ce qui est enregistré garde son jour et sa nuit&#xa0;; la nouvelle règle vaut pour les nouvelles mesures</translation>
    </message>
</context>
<context>
    <name>mpm::gui::LabelClassesPanel</name>
    <message>
        <source>Classes to draw</source>
        <translation>Classes à dessiner</translation>
    </message>
    <message>
        <source>Name of a new class</source>
        <translation>Nom d’une nouvelle classe</translation>
    </message>
    <message>
        <source>New class</source>
        <translation>Nouvelle classe</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Ajouter</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Renommer</translation>
    </message>
    <message>
        <source>Change the name of the chosen class (F2)</source>
        <translation>Changer le nom de la classe choisie (F2)</translation>
    </message>
    <message>
        <source>Colour…</source>
        <translation>Couleur…</translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>Fusionner</translation>
    </message>
    <message>
        <source>Give the labels of the chosen class to another one, and take it away</source>
        <translation>Donner les étiquettes de la classe choisie à une autre, et la supprimer</translation>
    </message>
    <message>
        <source>Take the classes of the model</source>
        <translation>Prendre les classes du modèle</translation>
    </message>
    <message>
        <source>Key %1</source>
        <translation>Touche %1</translation>
    </message>
    <message>
        <source>Colour of %1</source>
        <translation>Couleur de %1</translation>
    </message>
    <message>
        <source>Into %1</source>
        <translation>Dans %1</translation>
    </message>
    <message>
        <source>Remove it; its labels are lost</source>
        <translation>La supprimer&#xa0;; ses étiquettes sont perdues</translation>
    </message>
</context>
<context>
    <name>mpm::gui::LabelPicturesPanel</name>
    <message>
        <source>Pictures to label</source>
        <translation>Images à étiqueter</translation>
    </message>
    <message>
        <source>Take this picture</source>
        <translation>Prendre cette image</translation>
    </message>
    <message>
        <source>The frame of the live source that is on show (K)</source>
        <translation>L’image affichée de la source en direct (K)</translation>
    </message>
    <message>
        <source>From files…</source>
        <translation>Depuis des fichiers…</translation>
    </message>
    <message>
        <source>Import labels…</source>
        <translation>Importer des étiquettes…</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Supprimer</translation>
    </message>
    <message>
        <source>The picture on show and its labels</source>
        <translation>L’image affichée et ses étiquettes</translation>
    </message>
    <message>
        <source>%1: labelled</source>
        <translation>%1&#xa0;: étiquetée</translation>
    </message>
    <message>
        <source>%1: no labels yet</source>
        <translation>%1&#xa0;: pas encore d’étiquettes</translation>
    </message>
    <message>
        <source>Folder of labels and pictures</source>
        <translation>Dossier d’étiquettes et d’images</translation>
    </message>
    <message>
        <source>Remove the picture %1 and its labels?</source>
        <translation>Supprimer l’image %1 et ses étiquettes&#xa0;?</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Garder</translation>
    </message>
    <message>
        <source>A good start</source>
        <translation>Un bon début</translation>
    </message>
    <message>
        <source>What to label next?</source>
        <translation>Que faut-il étiqueter ensuite&#xa0;?</translation>
    </message>
    <message>
        <source>What to label next</source>
        <translation>Que faut-il étiqueter ensuite</translation>
    </message>
    <message>
        <source>one by night</source>
        <translation>une de nuit</translation>
    </message>
    <message>
        <source>each class in %1 pictures</source>
        <translation>chaque classe dans %1 images</translation>
    </message>
    <message>
        <source>; not yet: %1</source>
        <translation>&#xa0;; pas encore&#xa0;: %1</translation>
    </message>
    <message>
        <source>Label %1</source>
        <translation>Étiqueter %1</translation>
    </message>
    <message>
        <source>A folder with label maps (PNG) or files of LabelMe or COCO, and their pictures</source>
        <translation>Un dossier de cartes d&apos;étiquettes (PNG) ou de fichiers LabelMe ou COCO, avec leurs images</translation>
    </message>
    <message>
        <source>Pictures (*.png *.jpg *.jpeg *.bmp *.tif *.tiff)</source>
        <translation>Images (*.png *.jpg *.jpeg *.bmp *.tif *.tiff)</translation>
    </message>
    <message>
        <source>Copy labels of</source>
        <translation>Copier les étiquettes de</translation>
    </message>
    <message>
        <source>Of a fixed camera: take all labels of another picture, then draw only what differs</source>
        <translation>Caméra fixe&#xa0;: reprendre toutes les étiquettes d’une autre image, puis ne dessiner que ce qui diffère</translation>
    </message>
    <message>
        <source>Finds pictures of this source, stored or in its folder, that differ most from the labelled ones</source>
        <translation>Trouve les images de cette source, enregistrées ou dans son dossier, qui diffèrent le plus de celles déjà étiquetées</translation>
    </message>
    <message numerus="yes">
        <source>%n of %1 pictures are labelled</source>
        <translation>
            <numerusform>%n image sur %1 est étiquetée</numerusform>
            <numerusform>%n images sur %1 sont étiquetées</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::LabelStore</name>
    <message>
        <source>&apos;%1&apos; is open in another window: close that first</source>
        <translation>«&#xa0;%1&#xa0;» est ouvert dans une autre fenêtre&#xa0;: fermez-la d’abord</translation>
    </message>
</context>
<context>
    <name>mpm::gui::LabelTablePanel</name>
    <message>
        <source>All labels</source>
        <translation>Toutes les étiquettes</translation>
    </message>
    <message>
        <source>Picture</source>
        <translation>Image</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Classe</translation>
    </message>
    <message>
        <source>px</source>
        <translation>px</translation>
    </message>
    <message>
        <source>Share of the picture</source>
        <translation>Part de l’image</translation>
    </message>
    <message>
        <source>No labels yet</source>
        <translation>Pas encore d’étiquettes</translation>
    </message>
    <message>
        <source>Remove these labels</source>
        <translation>Supprimer ces étiquettes</translation>
    </message>
    <message>
        <source>Those of this class in this picture (Delete)</source>
        <translation>Celles de cette classe dans cette image (Suppr)</translation>
    </message>
    <message>
        <source>%1: %2 px of %3, %4 % of the picture</source>
        <translation>%1&#xa0;: %2 px de %3, %4&#xa0;% de l’image</translation>
    </message>
</context>
<context>
    <name>mpm::gui::LegendModel</name>
    <message>
        <source>%1 %</source>
        <translation>%1&#xa0;%</translation>
    </message>
    <message>
        <source>%1, %2 % of the frame</source>
        <translation>%1, %2&#xa0;% de l’image</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Classe</translation>
    </message>
    <message>
        <source>Area</source>
        <translation>Surface</translation>
    </message>
    <message>
        <source>%1 (class %2). Double click or Shift+Enter: show it alone. Enter or the context menu: change its colour.</source>
        <translation>%1 (classe %2). Double clic ou Maj+Entrée&#xa0;: la montrer seule. Entrée ou le menu contextuel&#xa0;: changer sa couleur.</translation>
    </message>
</context>
<context>
    <name>mpm::gui::LegendPanel</name>
    <message>
        <source>Search the classes</source>
        <translation>Chercher dans les classes</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Chercher</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Tout</translation>
    </message>
    <message>
        <source>Show every class</source>
        <translation>Montrer toutes les classes</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Aucune</translation>
    </message>
    <message>
        <source>Hide every class</source>
        <translation>Cacher toutes les classes</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>Classes</translation>
    </message>
    <message>
        <source>Colour of %1</source>
        <translation>Couleur de %1</translation>
    </message>
    <message>
        <source>Show the others again</source>
        <translation>Montrer de nouveau les autres</translation>
    </message>
    <message>
        <source>Show it alone</source>
        <translation>La montrer seule</translation>
    </message>
    <message>
        <source>Change its colour…</source>
        <translation>Changer sa couleur…</translation>
    </message>
    <message>
        <source>Segments</source>
        <translation>Segments</translation>
    </message>
    <message>
        <source>Areas in the whole picture</source>
        <translation>Surfaces dans l’image entière</translation>
    </message>
    <message>
        <source>Areas in %1</source>
        <translation>Surfaces dans %1</translation>
    </message>
    <message>
        <source>Where the areas are measured</source>
        <translation>Où les surfaces sont mesurées</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1&#xa0;%</translation>
    </message>
    <message>
        <source>Segment</source>
        <translation>Segment</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>Score</translation>
    </message>
    <message>
        <source>Area</source>
        <translation>Surface</translation>
    </message>
    <message>
        <source>Smallest depth</source>
        <translation>Plus petite profondeur</translation>
    </message>
    <message>
        <source>Largest depth</source>
        <translation>Plus grande profondeur</translation>
    </message>
    <message>
        <source>Unit of the depth</source>
        <translation>Unité de la profondeur</translation>
    </message>
    <message>
        <source>Depth of this frame</source>
        <translation>Profondeur de cette image</translation>
    </message>
</context>
<context>
    <name>mpm::gui::LiveTrainer</name>
    <message>
        <source>label two classes, and training begins</source>
        <translation>étiquetez deux classes, et l’entraînement commence</translation>
    </message>
    <message numerus="yes">
        <source>none of the %n stored picture(s) can be read</source>
        <translation>
            <numerusform>l’image enregistrée ne peut pas être lue</numerusform>
            <numerusform>aucune des %n images enregistrées ne peut être lue</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::MainWindow</name>
    <message>
        <source>MPM Monitor</source>
        <translation>Moniteur MPM</translation>
    </message>
    <message>
        <source>%1 – MPM Monitor</source>
        <translation>%1 – Moniteur MPM</translation>
    </message>
    <message>
        <source>The language changes when the program starts the next time</source>
        <translation>La langue changera au prochain démarrage</translation>
    </message>
    <message>
        <source>&amp;Open a source…</source>
        <translation>&amp;Ouvrir une source…</translation>
    </message>
    <message>
        <source>Try the &amp;demo</source>
        <translation>Essayer la &amp;démo</translation>
    </message>
    <message>
        <source>Ctrl+D</source>
        <translation>Ctrl+D</translation>
    </message>
    <message>
        <source>Open a &amp;model…</source>
        <translation>Ouvrir un &amp;modèle…</translation>
    </message>
    <message>
        <source>Ctrl+M</source>
        <translation>Ctrl+M</translation>
    </message>
    <message>
        <source>Ctrl+Shift+O</source>
        <translation>Ctrl+Shift+O</translation>
    </message>
    <message>
        <source>&amp;Snapshot</source>
        <translation>&amp;Instantané</translation>
    </message>
    <message>
        <source>S</source>
        <translation>S</translation>
    </message>
    <message>
        <source>&amp;Record every frame</source>
        <translation>Enregistrer &amp;chaque image</translation>
    </message>
    <message>
        <source>R</source>
        <translation>R</translation>
    </message>
    <message>
        <source>Ctrl+T</source>
        <translation>Ctrl+T</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation>E&amp;xporter…</translation>
    </message>
    <message>
        <source>Ctrl+E</source>
        <translation>Ctrl+E</translation>
    </message>
    <message>
        <source>&amp;Close the source</source>
        <translation>&amp;Fermer la source</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Quitter</translation>
    </message>
    <message>
        <source>Ctrl+Q</source>
        <translation>Ctrl+Q</translation>
    </message>
    <message>
        <source>M&amp;erge map</source>
        <translation>Carte de &amp;fusion</translation>
    </message>
    <message>
        <source>M</source>
        <translation>M</translation>
    </message>
    <message>
        <source>&amp;Next insertion</source>
        <translation>Insertion &amp;suivante</translation>
    </message>
    <message>
        <source>.</source>
        <translation>.</translation>
    </message>
    <message>
        <source>&amp;Previous insertion</source>
        <translation>Insertion &amp;précédente</translation>
    </message>
    <message>
        <source>,</source>
        <translation>,</translation>
    </message>
    <message>
        <source>Next co&amp;louring of the merge map</source>
        <translation>Co&amp;loration suivante de la carte</translation>
    </message>
    <message>
        <source>C</source>
        <translation>C</translation>
    </message>
    <message>
        <source>Back to li&amp;ve, let go of the patch</source>
        <translation>Retour au &amp;direct, libérer le carré</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Whole p&amp;icture</source>
        <translation>Image &amp;entière</translation>
    </message>
    <message>
        <source>Ctrl+0</source>
        <translation>Ctrl+0</translation>
    </message>
    <message>
        <source>English</source>
        <translation>English</translation>
    </message>
    <message>
        <source>Ctrl+Alt+E</source>
        <translation>Ctrl+Alt+E</translation>
    </message>
    <message>
        <source>Français</source>
        <translation>Français</translation>
    </message>
    <message>
        <source>Ctrl+Alt+F</source>
        <translation>Ctrl+Alt+F</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation>&amp;Pause</translation>
    </message>
    <message>
        <source>P</source>
        <translation>P</translation>
    </message>
    <message>
        <source>X</source>
        <translation>X</translation>
    </message>
    <message>
        <source>Open the source a&amp;gain</source>
        <translation>&amp;Rouvrir la source</translation>
    </message>
    <message>
        <source>Ctrl+R</source>
        <translation>Ctrl+R</translation>
    </message>
    <message>
        <source>Copy as command &amp;line</source>
        <translation>Copier en &amp;ligne de commande</translation>
    </message>
    <message>
        <source>Ctrl+Shift+C</source>
        <translation>Ctrl+Shift+C</translation>
    </message>
    <message>
        <source>Day and &amp;night…</source>
        <translation>Jour et &amp;nuit…</translation>
    </message>
    <message>
        <source>N</source>
        <translation>N</translation>
    </message>
    <message>
        <source>&amp;Alarms…</source>
        <translation>&amp;Alarmes…</translation>
    </message>
    <message>
        <source>G</source>
        <translation>G</translation>
    </message>
    <message>
        <source>&amp;Keys</source>
        <translation>&amp;Touches</translation>
    </message>
    <message>
        <source>?</source>
        <translation>?</translation>
    </message>
    <message>
        <source>&amp;About</source>
        <translation>À &amp;propos</translation>
    </message>
    <message>
        <source>F1</source>
        <translation>F1</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Ouvrir</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Journal</translation>
    </message>
    <message>
        <source>What is &amp;kept…</source>
        <translation>Ce &amp;qui est gardé…</translation>
    </message>
    <message>
        <source>&amp;Compare with another reduction</source>
        <translation>&amp;Comparer avec une autre réduction</translation>
    </message>
    <message>
        <source>&amp;Tune for this camera…</source>
        <translation>Ré&amp;gler pour cette caméra…</translation>
    </message>
    <message>
        <source>U</source>
        <translation>U</translation>
    </message>
    <message>
        <source>Teac&amp;h the model</source>
        <translation>App&amp;rendre au modèle</translation>
    </message>
    <message>
        <source>L</source>
        <translation>L</translation>
    </message>
    <message>
        <source>Ta&amp;ke this picture to teach it</source>
        <translation>Prendre cette image pour l’&amp;étiqueter</translation>
    </message>
    <message>
        <source>K</source>
        <translation>K</translation>
    </message>
    <message>
        <source>Taken. %1: label it</source>
        <translation>Prise. %1&#xa0;: l’étiqueter</translation>
    </message>
    <message>
        <source>not with a model of depth, which has no classes</source>
        <translation>pas avec un modèle de profondeur, qui n’a pas de classes</translation>
    </message>
    <message>
        <source>Pre&amp;vious picture of the folder</source>
        <translation>Image p&amp;récédente du dossier</translation>
    </message>
    <message>
        <source>PgUp</source>
        <translation>PgUp</translation>
    </message>
    <message>
        <source>Ne&amp;xt picture of the folder</source>
        <translation>Image suivan&amp;te du dossier</translation>
    </message>
    <message>
        <source>PgDown</source>
        <translation>PgDown</translation>
    </message>
    <message>
        <source>Sharp &amp;edges of classes</source>
        <translation>C&amp;ontours nets des classes</translation>
    </message>
    <message>
        <source>Shift+E</source>
        <translation>Shift+E</translation>
    </message>
    <message>
        <source>T&amp;imes of the pictures…</source>
        <translation>D&amp;ates des images…</translation>
    </message>
    <message>
        <source>Ctrl+Shift+T</source>
        <translation>Ctrl+Shift+T</translation>
    </message>
    <message>
        <source>&amp;Regions…</source>
        <translation>&amp;Régions…</translation>
    </message>
    <message>
        <source>O</source>
        <translation>O</translation>
    </message>
    <message>
        <source>&amp;Measure the stored pictures again…</source>
        <translation>&amp;Mesurer à nouveau les images enregistrées…</translation>
    </message>
    <message>
        <source>Ctrl+Shift+M</source>
        <translation>Ctrl+Shift+M</translation>
    </message>
    <message>
        <source>What is kept</source>
        <translation>Ce qui est gardé</translation>
    </message>
    <message>
        <source>Day and night</source>
        <translation>Jour et nuit</translation>
    </message>
    <message>
        <source>Alarms</source>
        <translation>Alarmes</translation>
    </message>
    <message>
        <source>not with a converted file, whose reduction is fixed</source>
        <translation>pas avec un fichier converti, dont la réduction est fixée</translation>
    </message>
    <message>
        <source>only with a model that gives each pixel a class</source>
        <translation>seulement avec un modèle qui donne une classe à chaque pixel</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Source</translation>
    </message>
    <message>
        <source>Reduction</source>
        <translation>Réduction</translation>
    </message>
    <message>
        <source>Legend</source>
        <translation>Légende</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>Détails</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Vitesse</translation>
    </message>
    <message>
        <source>Day/night</source>
        <translation>Jour/nuit</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Comparer</translation>
    </message>
    <message>
        <source>Chart</source>
        <translation>Graphique</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Événements</translation>
    </message>
    <message>
        <source>Open a data&amp;base or watch file…</source>
        <translation>Ouvrir une &amp;base de données ou un fichier de surveillance…</translation>
    </message>
    <message>
        <source>All c&amp;ameras of the watch file</source>
        <translation>Toutes les c&amp;améras du fichier de surveillance</translation>
    </message>
    <message>
        <source>W</source>
        <translation>W</translation>
    </message>
    <message>
        <source>Not saved: %1</source>
        <translation>Non enregistré&#xa0;: %1</translation>
    </message>
    <message>
        <source>Open a source first: each has its own</source>
        <translation>Ouvrez d’abord une source&#xa0;: chacune a les siens</translation>
    </message>
    <message>
        <source>Open a source first: regions are drawn on its picture</source>
        <translation>Ouvrez d’abord une source&#xa0;: les régions se dessinent sur son image</translation>
    </message>
    <message>
        <source>The picture on show is stored already. Esc: back to live</source>
        <translation>L’image affichée est déjà enregistrée. Échap&#xa0;: retour au direct</translation>
    </message>
    <message>
        <source>No frame came</source>
        <translation>Aucune image n’est venue</translation>
    </message>
    <message>
        <source>Waiting for the first frame…</source>
        <translation>En attente de la première image…</translation>
    </message>
    <message>
        <source>Calendar</source>
        <translation>Calendrier</translation>
    </message>
</context>
<context>
    <name>mpm::gui::MeasureAgain</name>
    <message>
        <source>Open a folder of pictures with times first: once they are stored, they can be measured again</source>
        <translation>Ouvrez d’abord un dossier d’images datées&#xa0;: une fois enregistrées, elles peuvent être mesurées à nouveau</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>Mesurer à nouveau</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Pas maintenant</translation>
    </message>
    <message>
        <source>Measure all pictures of this folder again?</source>
        <translation>Mesurer à nouveau toutes les images de ce dossier&#xa0;?</translation>
    </message>
    <message>
        <source>With the model, regions and states of now, as a series of their own. What is stored stays.</source>
        <translation>Avec le modèle, les régions et les états actuels, comme une série à part. Ce qui est enregistré reste.</translation>
    </message>
</context>
<context>
    <name>mpm::gui::MergeView</name>
    <message>
        <source>No merge map for this picture</source>
        <translation>Pas de carte de fusion pour cette image</translation>
    </message>
    <message>
        <source>Each cell is one token: a patch that the network works on.</source>
        <translation>Chaque case est un jeton&#xa0;: un carré sur lequel le réseau travaille.</translation>
    </message>
    <message>
        <source>Each cell is one token: patches that look alike to the network were averaged, and from this block on it works on the cells alone.</source>
        <translation>Chaque case est un jeton&#xa0;: les carrés semblables pour le réseau ont été moyennés&#xa0;; à partir de ce bloc il ne travaille que sur les cases.</translation>
    </message>
    <message>
        <source>1 patch</source>
        <translation>1 carré</translation>
    </message>
    <message>
        <source>2</source>
        <translation>2</translation>
    </message>
    <message>
        <source>3–4</source>
        <translation>3–4</translation>
    </message>
    <message>
        <source>5–8</source>
        <translation>5–8</translation>
    </message>
    <message>
        <source>9 and more</source>
        <translation>9 et plus</translation>
    </message>
    <message>
        <source>not merged</source>
        <translation>non fusionné</translation>
    </message>
    <message>
        <source>before block %1</source>
        <translation>avant le bloc %1</translation>
    </message>
</context>
<context>
    <name>mpm::gui::ModelTeaching</name>
    <message>
        <source>%1 is trained. Read its verdict, then use it</source>
        <translation>%1 est entraîné. Lisez son verdict, puis utilisez-le</translation>
    </message>
    <message>
        <source>The training was cancelled; nothing was written</source>
        <translation>L’entraînement a été annulé&#xa0;; rien n’a été écrit</translation>
    </message>
</context>
<context>
    <name>mpm::gui::NetControl</name>
    <message>
        <source>Reading %1…</source>
        <translation>Lecture de %1…</translation>
    </message>
    <message>
        <source>reduction %1</source>
        <translation>réduction %1</translation>
    </message>
    <message>
        <source>the comparison with %1</source>
        <translation>la comparaison avec %1</translation>
    </message>
    <message>
        <source>sharp edges</source>
        <translation>contours nets</translation>
    </message>
    <message>
        <source>edges as the model gives them</source>
        <translation>contours tels que le modèle les donne</translation>
    </message>
    <message>
        <source>On this frame: %1</source>
        <translation>Sur cette image&#xa0;: %1</translation>
    </message>
    <message>
        <source>It is paused; from the next frame on: %1</source>
        <translation>En pause&#xa0;; dès la prochaine image&#xa0;: %1</translation>
    </message>
    <message>
        <source>The source has ended; once it is opened again (%1): %2</source>
        <translation>La source est terminée&#xa0;; une fois rouverte (%1)&#xa0;: %2</translation>
    </message>
    <message>
        <source>From the next frame on: %1</source>
        <translation>Dès la prochaine image&#xa0;: %1</translation>
    </message>
</context>
<context>
    <name>mpm::gui::Opener</name>
    <message>
        <source>Nothing was watched yet: choose a source</source>
        <translation>Rien n’a encore été observé&#xa0;: choisissez une source</translation>
    </message>
    <message>
        <source>%1 is gone</source>
        <translation>%1 a disparu</translation>
    </message>
    <message>
        <source>%1 is gone; going on with %2</source>
        <translation>%1 a disparu&#xa0;; on continue avec %2</translation>
    </message>
    <message>
        <source>Open a model</source>
        <translation>Ouvrir un modèle</translation>
    </message>
    <message>
        <source>ONNX models (*.onnx)</source>
        <translation>Modèles ONNX (*.onnx)</translation>
    </message>
    <message>
        <source>Databases (*.db);;All files (*)</source>
        <translation>Bases de données (*.db);;Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>The folder of these pictures: %1</source>
        <translation>Le dossier de ces images&#xa0;: %1</translation>
    </message>
    <message>
        <source>One source at a time: %1</source>
        <translation>Une source à la fois&#xa0;: %1</translation>
    </message>
    <message>
        <source>Store in a new file</source>
        <translation>Enregistrer dans un nouveau fichier</translation>
    </message>
    <message>
        <source>Open a database or a watch file</source>
        <translation>Ouvrir une base de données ou un fichier de surveillance</translation>
    </message>
    <message>
        <source>Databases and watch files (*.db *.toml);;All files (*)</source>
        <translation>Bases de données et fichiers de surveillance (*.db *.toml);;Tous les fichiers (*)</translation>
    </message>
</context>
<context>
    <name>mpm::gui::PanelDocks</name>
    <message>
        <source>&amp;Hide or show all panels</source>
        <translation>&amp;Cacher ou montrer tous les panneaux</translation>
    </message>
    <message>
        <source>F9</source>
        <translation>F9</translation>
    </message>
    <message>
        <source>Scroll bar of %1</source>
        <translation>Barre de défilement de %1</translation>
    </message>
</context>
<context>
    <name>mpm::gui::PictureStore</name>
    <message>
        <source>%1 cannot be written: %2</source>
        <translation>%1 ne peut pas être écrit&#xa0;: %2</translation>
    </message>
</context>
<context>
    <name>mpm::gui::PictureSuggestions</name>
    <message>
        <source>All pictures are like one that is labelled</source>
        <translation>Toutes les images ressemblent à une image étiquetée</translation>
    </message>
    <message>
        <source>These differ most from what is labelled. Press one to label it</source>
        <translation>Celles-ci diffèrent le plus de ce qui est étiqueté. Cliquez-en une pour l&apos;étiqueter</translation>
    </message>
    <message>
        <source>There is nothing new to choose from: open a folder or a camera, or store pictures of it</source>
        <translation>Il n’y a rien de nouveau à choisir&#xa0;: ouvrez un dossier ou une caméra, ou enregistrez-en des images</translation>
    </message>
    <message numerus="yes">
        <source>Comparing %n picture(s)…</source>
        <translation>
            <numerusform>Comparaison de %n image…</numerusform>
            <numerusform>Comparaison de %n images…</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::PictureViews</name>
    <message>
        <source>&amp;Image</source>
        <translation>&amp;Image</translation>
    </message>
    <message>
        <source>1</source>
        <translation>1</translation>
    </message>
    <message>
        <source>&amp;Mask</source>
        <translation>&amp;Masque</translation>
    </message>
    <message>
        <source>2</source>
        <translation>2</translation>
    </message>
    <message>
        <source>&amp;Overlay</source>
        <translation>Super&amp;position</translation>
    </message>
    <message>
        <source>3</source>
        <translation>3</translation>
    </message>
    <message>
        <source>Split &amp;curtain</source>
        <translation>&amp;Rideau</translation>
    </message>
    <message>
        <source>4</source>
        <translation>4</translation>
    </message>
    <message>
        <source>Com&amp;puted patches</source>
        <translation>Carrés calc&amp;ulés</translation>
    </message>
    <message>
        <source>5</source>
        <translation>5</translation>
    </message>
    <message>
        <source>Overlay more opa&amp;que</source>
        <translation>Superposition plus opa&amp;que</translation>
    </message>
    <message>
        <source>]</source>
        <translation>]</translation>
    </message>
    <message>
        <source>Overlay more &amp;transparent</source>
        <translation>Superposition plus &amp;transparente</translation>
    </message>
    <message>
        <source>[</source>
        <translation>[</translation>
    </message>
    <message>
        <source>C&amp;urtain to the left</source>
        <translation>&amp;Rideau vers la gauche</translation>
    </message>
    <message>
        <source>&lt;</source>
        <translation>&lt;</translation>
    </message>
    <message>
        <source>Cu&amp;rtain to the right</source>
        <translation>R&amp;ideau vers la droite</translation>
    </message>
    <message>
        <source>&gt;</source>
        <translation>&gt;</translation>
    </message>
    <message>
        <source>Outlines of re&amp;gions</source>
        <translation>Contours des ré&amp;gions</translation>
    </message>
    <message>
        <source>Shift+O</source>
        <translation>Shift+O</translation>
    </message>
    <message>
        <source>Show &amp;all classes</source>
        <translation>Montrer &amp;toutes les classes</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>Opacity of the overlay</source>
        <translation>Opacité de la superposition</translation>
    </message>
    <message>
        <source>Opacity of the overlay ([ and ])</source>
        <translation>Opacité de la superposition ([ et ])</translation>
    </message>
</context>
<context>
    <name>mpm::gui::PicturesPane</name>
    <message>
        <source>Merge map</source>
        <translation>Carte de fusion</translation>
    </message>
    <message>
        <source>The merge map appears with the first frame</source>
        <translation>La carte de fusion apparaît avec la première image</translation>
    </message>
    <message>
        <source>Insertion on show</source>
        <translation>Insertion affichée</translation>
    </message>
    <message>
        <source>Colour of the clusters</source>
        <translation>Couleur des groupes</translation>
    </message>
    <message>
        <source>Mean colour</source>
        <translation>Couleur moyenne</translation>
    </message>
    <message>
        <source>Cluster size</source>
        <translation>Taille des groupes</translation>
    </message>
    <message>
        <source>Insertion</source>
        <translation>Insertion</translation>
    </message>
    <message numerus="yes">
        <source>%n patch(es)</source>
        <translation>
            <numerusform>%n carré</numerusform>
            <numerusform>%n carrés</numerusform>
        </translation>
    </message>
    <message>
        <source>Block %1: %2 → %3</source>
        <translation>Bloc %1&#xa0;: %2 → %3</translation>
    </message>
</context>
<context>
    <name>mpm::gui::Recording</name>
    <message>
        <source>Saved %1</source>
        <translation>%1 enregistré</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) of old pictures forgotten</source>
        <translation>
            <numerusform>%n fichier d’anciennes images oublié</numerusform>
            <numerusform>%n fichiers d’anciennes images oubliés</numerusform>
        </translation>
    </message>
    <message>
        <source>The recording leaves out frames: this machine or its disk is too slow for all of them</source>
        <translation>L’enregistrement omet des images&#xa0;: cette machine ou son disque est trop lent pour toutes</translation>
    </message>
    <message>
        <source>There is no frame yet</source>
        <translation>Il n’y a pas encore d’image</translation>
    </message>
    <message>
        <source>No model has seen this frame yet: there is nothing to save with it</source>
        <translation>Aucun modèle n’a encore vu cette image&#xa0;: il n’y a rien à enregistrer avec elle</translation>
    </message>
    <message>
        <source>The disk is too slow: this picture was not saved</source>
        <translation>Le disque est trop lent&#xa0;: cette image n’a pas été enregistrée</translation>
    </message>
    <message>
        <source>Recording to %1</source>
        <translation>Enregistrement dans %1</translation>
    </message>
    <message numerus="yes">
        <source>● REC %n picture(s)</source>
        <translation>
            <numerusform>● ENR %n image</numerusform>
            <numerusform>● ENR %n images</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2 left out</source>
        <translation>%1, %2 omises</translation>
    </message>
</context>
<context>
    <name>mpm::gui::ReductionEditor</name>
    <message>
        <source>Method</source>
        <translation>Méthode</translation>
    </message>
    <message>
        <source>Full model</source>
        <translation>Modèle complet</translation>
    </message>
    <message>
        <source>Mutual Pair Merging</source>
        <translation>Mutual Pair Merging</translation>
    </message>
    <message>
        <source>Gradual merging</source>
        <translation>Fusion graduelle</translation>
    </message>
    <message>
        <source>ToMe</source>
        <translation>ToMe</translation>
    </message>
    <message>
        <source>ALGM</source>
        <translation>ALGM</translation>
    </message>
    <message>
        <source>How much merges in each block</source>
        <translation>Combien fusionne dans chaque bloc</translation>
    </message>
    <message>
        <source>A share of the tokens</source>
        <translation>Une part des jetons</translation>
    </message>
    <message>
        <source>A number of pairs</source>
        <translation>Un nombre de paires</translation>
    </message>
    <message>
        <source>All similar pairs</source>
        <translation>Toutes les paires semblables</translation>
    </message>
    <message>
        <source>Share of the tokens, per block</source>
        <translation>Part des jetons, par bloc</translation>
    </message>
    <message>
        <source> % per block</source>
        <translation>&#xa0;% par bloc</translation>
    </message>
    <message>
        <source>Pairs, per block</source>
        <translation>Paires, par bloc</translation>
    </message>
    <message>
        <source> per block</source>
        <translation> par bloc</translation>
    </message>
    <message>
        <source>Only similar ones</source>
        <translation>Seulement les semblables</translation>
    </message>
    <message>
        <source>Least similarity</source>
        <translation>Similarité minimale</translation>
    </message>
    <message>
        <source>Cosine similarity: 1 is equal. Nearer to 1 merges less</source>
        <translation>Similarité cosinus&#xa0;: 1 signifie égal. Plus près de 1, moins de fusions</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <source>Plain attention</source>
        <translation>Attention simple</translation>
    </message>
    <message>
        <source>Proportional attention</source>
        <translation>Attention proportionnelle</translation>
    </message>
    <message>
        <source>Proportional: a merged token counts as many times as it has members</source>
        <translation>Proportionnelle&#xa0;: un jeton fusionné compte autant de fois qu’il a de membres</translation>
    </message>
    <message>
        <source>Reduction as text</source>
        <translation>Réduction en texte</translation>
    </message>
    <message>
        <source>What --reduce takes on the command line. It can be copied, and changed here: Enter applies it</source>
        <translation>Ce que --reduce prend en ligne de commande. À copier, ou à modifier ici&#xa0;: Entrée l’applique</translation>
    </message>
    <message>
        <source>Merge at block %1</source>
        <translation>Fusionner au bloc %1</translation>
    </message>
    <message>
        <source>Nothing merges. All other methods are compared with it.</source>
        <translation>Rien ne fusionne. Toutes les autres méthodes lui sont comparées.</translation>
    </message>
    <message>
        <source>All pairs that are each other&apos;s nearest neighbour, before a few blocks: the paper.</source>
        <translation>Toutes les paires de plus proches voisins mutuels, avant quelques blocs&#xa0;: l’article.</translation>
    </message>
    <message>
        <source>The most similar pairs, a few in each of many blocks. Start here.</source>
        <translation>Les paires les plus semblables, quelques-unes dans beaucoup de blocs. Commencez ici.</translation>
    </message>
    <message>
        <source>In each block even tokens merge into odd ones, the most similar first.</source>
        <translation>Dans chaque bloc, des jetons pairs fusionnent dans des impairs, les plus semblables d’abord.</translation>
    </message>
    <message>
        <source>First windows of 2x2 patches, in a later block single tokens.</source>
        <translation>D’abord des fenêtres de 2x2 carrés, dans un bloc ultérieur des jetons seuls.</translation>
    </message>
    <message>
        <source>CTS</source>
        <translation>CTS</translation>
    </message>
    <message>
        <source>Windows of 2x2 patches that a policy network chooses share one token.</source>
        <translation>Des fenêtres de 2x2 carrés, choisies par un réseau de décision, partagent un jeton.</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>Problème</translation>
    </message>
</context>
<context>
    <name>mpm::gui::ReductionPanel</name>
    <message>
        <source>No model is loaded</source>
        <translation>Aucun modèle n’est chargé</translation>
    </message>
    <message>
        <source>Tune for this camera…</source>
        <translation>Régler pour cette caméra…</translation>
    </message>
    <message>
        <source>Finds the fastest reduction that keeps the labels, on pictures of this source</source>
        <translation>Cherche la réduction la plus rapide qui garde les classes, sur des images de cette source</translation>
    </message>
    <message>
        <source>Copy as command line</source>
        <translation>Copier en ligne de commande</translation>
    </message>
    <message>
        <source>The command that watches this source with this model and reduction without a window</source>
        <translation>La commande qui observe cette source avec ce modèle et cette réduction, sans fenêtre</translation>
    </message>
    <message>
        <source>This file is converted, so its reduction is fixed. Open the plain model to choose another one.</source>
        <translation>Ce fichier est converti&#xa0;: sa réduction est fixée. Ouvrez le modèle d’origine pour en choisir une autre.</translation>
    </message>
</context>
<context>
    <name>mpm::gui::RegionsDialog</name>
    <message>
        <source>Regions</source>
        <translation>Régions</translation>
    </message>
    <message>
        <source>Drop what was changed here?</source>
        <translation>Abandonner les modifications&#xa0;?</translation>
    </message>
    <message>
        <source>Drop</source>
        <translation>Abandonner</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Conserver</translation>
    </message>
    <message>
        <source>Regions of %1</source>
        <translation>Régions de %1</translation>
    </message>
    <message>
        <source>Picture on which regions are drawn</source>
        <translation>Image sur laquelle on dessine les régions</translation>
    </message>
    <message>
        <source>Click the corners of a region; double click or Enter closes it. Drag a corner to move it. By keyboard: arrow keys, space, Enter.</source>
        <translation>Cliquez sur les sommets d’une région&#xa0;; un double clic ou Entrée la ferme. Faites glisser un sommet pour le déplacer. Au clavier&#xa0;: flèches, espace, Entrée.</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Nom</translation>
    </message>
    <message>
        <source>Ignored</source>
        <translation>Ignorée</translation>
    </message>
    <message>
        <source>Its pixels count nowhere: a time stamp, the sky</source>
        <translation>Ses pixels ne comptent nulle part&#xa0;: un horodatage, le ciel</translation>
    </message>
    <message>
        <source>Valid from</source>
        <translation>Valable à partir de</translation>
    </message>
    <message>
        <source>Valid until</source>
        <translation>Valable jusqu’à</translation>
    </message>
    <message>
        <source>Add a part</source>
        <translation>Ajouter une partie</translation>
    </message>
    <message>
        <source>The next polygon becomes another part of this region</source>
        <translation>Le prochain polygone devient une autre partie de cette région</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Supprimer</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>Importer…</translation>
    </message>
    <message>
        <source>Our JSON, LabelMe, COCO, or a list of PhenoCam with its masks</source>
        <translation>Notre JSON, LabelMe, COCO ou une liste PhenoCam avec ses masques</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exporter…</translation>
    </message>
    <message>
        <source>From</source>
        <translation>De</translation>
    </message>
    <message>
        <source>Until</source>
        <translation>Jusqu’à</translation>
    </message>
    <message>
        <source>A polygon is begun: close it with a double click or Enter, or drop it with Esc.</source>
        <translation>Un polygone est commencé&#xa0;: fermez-le par un double clic ou Entrée, ou abandonnez-le avec Échap.</translation>
    </message>
    <message>
        <source>Region %1</source>
        <translation>Région %1</translation>
    </message>
    <message>
        <source>Export regions</source>
        <translation>Exporter les régions</translation>
    </message>
    <message>
        <source>Import regions</source>
        <translation>Importer des régions</translation>
    </message>
    <message>
        <source>Regions (*.json)</source>
        <translation>Régions (*.json)</translation>
    </message>
    <message>
        <source>Regions (*.json *.csv);;All files (*)</source>
        <translation>Régions (*.json *.csv);;Tous les fichiers (*)</translation>
    </message>
    <message numerus="yes">
        <source>%n region(s) read</source>
        <translation>
            <numerusform>%n région lue</numerusform>
            <numerusform>%n régions lues</numerusform>
        </translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>Écrit&#xa0;: %1</translation>
    </message>
    <message>
        <source>At the resolution of the camera</source>
        <translation>À la résolution de la caméra</translation>
    </message>
    <message>
        <source>For something small: its classes and states are read from a cut-out of the picture around it, once a minute</source>
        <translation>Pour un petit objet&#xa0;: ses classes et ses états sont lus dans une découpe de l’image autour de lui, une fois par minute</translation>
    </message>
    <message>
        <source>A region has no name: give each a name</source>
        <translation>Une région n’a pas de nom&#xa0;: donnez-en un à chacune</translation>
    </message>
    <message>
        <source>Region %1 ends before it begins</source>
        <translation>La région %1 finit avant de commencer</translation>
    </message>
    <message>
        <source>Region %1 has no area: it needs three corners or more, not on one line</source>
        <translation>La région %1 n’a pas de surface&#xa0;: il lui faut trois coins ou plus, qui ne soient pas alignés</translation>
    </message>
    <message>
        <source>Two regions have the name %1: give each its own</source>
        <translation>Deux régions ont le nom %1&#xa0;: donnez à chacune le sien</translation>
    </message>
    <message>
        <source>Two regions with the name %1 are valid at the same time: let one end before the next begins</source>
        <translation>Deux régions de nom %1 sont valables en même temps&#xa0;: l’une doit finir avant que l’autre ne commence</translation>
    </message>
</context>
<context>
    <name>mpm::gui::SettingsDialog</name>
    <message>
        <source>%1: %2</source>
        <translation>%1&#xa0;: %2</translation>
    </message>
</context>
<context>
    <name>mpm::gui::SourceDialog</name>
    <message>
        <source>Open a source</source>
        <translation>Ouvrir une source</translation>
    </message>
    <message>
        <source>Kind of source</source>
        <translation>Type de source</translation>
    </message>
    <message>
        <source>Demo street</source>
        <translation>Rue de démonstration</translation>
    </message>
    <message>
        <source>Camera</source>
        <translation>Caméra</translation>
    </message>
    <message>
        <source>Video file</source>
        <translation>Fichier vidéo</translation>
    </message>
    <message>
        <source>Image folder</source>
        <translation>Dossier d’images</translation>
    </message>
    <message>
        <source>Network address</source>
        <translation>Adresse réseau</translation>
    </message>
    <message>
        <source>GStreamer</source>
        <translation>GStreamer</translation>
    </message>
    <message>
        <source>A rendered street that never was, from noon to midnight and on, with every class known. It needs no camera and no download.</source>
        <translation>Une rue de synthèse qui n’a jamais existé, de midi à minuit et au-delà, dont chaque classe est connue. Elle ne demande ni caméra ni téléchargement.</translation>
    </message>
    <message>
        <source>No camera was found. Plug one in and open this dialog again.</source>
        <translation>Aucune caméra trouvée. Branchez-en une et rouvrez cette fenêtre.</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Dossier</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>User</source>
        <translation>Utilisateur</translation>
    </message>
    <message>
        <source>Password</source>
        <translation>Mot de passe</translation>
    </message>
    <message>
        <source>rtsp, http or https. The password is kept in memory only: never in a log, a file or the database.</source>
        <translation>rtsp, http ou https. Le mot de passe reste en mémoire seulement&#xa0;: jamais dans un journal, un fichier ou la base de données.</translation>
    </message>
    <message>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>As for gst-launch-1.0, ending in an appsink that gets BGR frames.</source>
        <translation>Comme pour gst-launch-1.0, se terminant par un appsink qui reçoit des images BGR.</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>Essayer</translation>
    </message>
    <message>
        <source>Read one frame and show it here</source>
        <translation>Lire une image et la montrer ici</translation>
    </message>
    <message>
        <source>Result of the test</source>
        <translation>Résultat de l’essai</translation>
    </message>
    <message>
        <source>The frame that was read</source>
        <translation>L’image lue</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Ouvrir</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>Parcourir…</translation>
    </message>
    <message>
        <source>Waiting for a frame…</source>
        <translation>En attente d’une image…</translation>
    </message>
    <message>
        <source>It gave no frame</source>
        <translation>Aucune image n’est venue</translation>
    </message>
    <message>
        <source>It works: %1 × %2 px (width × height)</source>
        <translation>Cela fonctionne&#xa0;: %1 × %2 px (largeur × hauteur)</translation>
    </message>
    <message>
        <source>There is no file or folder %1</source>
        <translation>Il n’y a ni fichier ni dossier %1</translation>
    </message>
    <message>
        <source>No frame came within %1 s</source>
        <translation>Aucune image n’est venue en %1 s</translation>
    </message>
</context>
<context>
    <name>mpm::gui::SourcePanel</name>
    <message>
        <source>Idle</source>
        <translation>Inactif</translation>
    </message>
    <message>
        <source>Opening…</source>
        <translation>Ouverture…</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>En direct</translation>
    </message>
    <message>
        <source>Stalled</source>
        <translation>Bloqué</translation>
    </message>
    <message>
        <source>Retrying (%1, next in %2 s)</source>
        <translation>Nouvel essai (%1, prochain dans %2 s)</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminé</translation>
    </message>
    <message>
        <source>No source</source>
        <translation>Aucune source</translation>
    </message>
    <message>
        <source>Connection</source>
        <translation>Connexion</translation>
    </message>
    <message>
        <source>No model</source>
        <translation>Aucun modèle</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Ouvrir…</translation>
    </message>
    <message>
        <source>Open a source</source>
        <translation>Ouvrir une source</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>En pause</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Close the source</source>
        <translation>Fermer la source</translation>
    </message>
    <message>
        <source>Change model…</source>
        <translation>Changer de modèle…</translation>
    </message>
    <message>
        <source>Reading the model…</source>
        <translation>Lecture du modèle…</translation>
    </message>
    <message>
        <source>%1 frames in, %2 dropped</source>
        <translation>%1 images reçues, %2 ignorées</translation>
    </message>
    <message>
        <source>It is played: frames that come while the model works are left out</source>
        <translation>Elle est jouée&#xa0;: les images qui arrivent pendant que le modèle travaille sont ignorées</translation>
    </message>
    <message numerus="yes">
        <source>%n read(s) hang</source>
        <translation>
            <numerusform>%n lecture bloquée</numerusform>
            <numerusform>%n lectures bloquées</numerusform>
        </translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Reprendre</translation>
    </message>
    <message>
        <source>%1 blocks of width %2, %3 × %4 patches (width × height), depth</source>
        <translation>%1 blocs de largeur %2, %3 × %4 carrés (largeur × hauteur), profondeur</translation>
    </message>
    <message numerus="yes">
        <source>%1 blocks of width %2, %3 × %4 patches (width × height), %n class(es)</source>
        <translation>
            <numerusform>%1 blocs de largeur %2, %3 × %4 carrés (largeur × hauteur), %n classe</numerusform>
            <numerusform>%1 blocs de largeur %2, %3 × %4 carrés (largeur × hauteur), %n classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln of %1 pictures are stored</source>
        <translation>
            <numerusform>%Ln image sur %1 enregistrée</numerusform>
            <numerusform>%Ln images sur %1 enregistrées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln of %1 pictures could not be read</source>
        <translation>
            <numerusform>%Ln image sur %1 n’a pas pu être lue</numerusform>
            <numerusform>%Ln images sur %1 n’ont pas pu être lues</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln of %1 pictures</source>
        <translation>
            <numerusform>%Ln image sur %1</numerusform>
            <numerusform>%Ln images sur %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::SpeedPanel</name>
    <message>
        <source>Frames in</source>
        <translation>Images reçues</translation>
    </message>
    <message>
        <source>Processed</source>
        <translation>Traitées</translation>
    </message>
    <message>
        <source>Dropped</source>
        <translation>Ignorées</translation>
    </message>
    <message>
        <source>Median latency</source>
        <translation>Latence médiane</translation>
    </message>
    <message>
        <source>95 % within</source>
        <translation>95&#xa0;% en moins de</translation>
    </message>
    <message>
        <source>Last frame</source>
        <translation>Dernière image</translation>
    </message>
    <message>
        <source>%1 fps, %2 in all</source>
        <translation>%1 im/s, %2 en tout</translation>
    </message>
    <message>
        <source>%1 (%2 %)</source>
        <translation>%1 (%2&#xa0;%)</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>Backbone</source>
        <translation>Encodeur</translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>Fusion</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Restitution</translation>
    </message>
    <message>
        <source>Head</source>
        <translation>Tête</translation>
    </message>
    <message>
        <source>Before and after</source>
        <translation>Avant et après</translation>
    </message>
    <message>
        <source>Rows computed</source>
        <translation>Lignes calculées</translation>
    </message>
    <message>
        <source>Agreement</source>
        <translation>Accord</translation>
    </message>
    <message>
        <source>%1 %, mean %2 %</source>
        <translation>%1&#xa0;%, moyenne %2&#xa0;%</translation>
    </message>
    <message>
        <source>no key frame compared yet</source>
        <translation>aucune image clé comparée pour l’instant</translation>
    </message>
    <message>
        <source>%1 %, mean %2 %, lowest %3 %</source>
        <translation>%1&#xa0;%, moyenne %2&#xa0;%, minimum %3&#xa0;%</translation>
    </message>
</context>
<context>
    <name>mpm::gui::StateTeaching</name>
    <message>
        <source>There is no model yet</source>
        <translation>Il n’y a pas encore de modèle</translation>
    </message>
</context>
<context>
    <name>mpm::gui::StatesPanel</name>
    <message>
        <source>Region that shows the states</source>
        <translation>Région qui montre les états</translation>
    </message>
    <message>
        <source>Whole picture</source>
        <translation>Image entière</translation>
    </message>
    <message>
        <source>Pictures and their states</source>
        <translation>Images et leurs états</translation>
    </message>
    <message>
        <source>New state</source>
        <translation>Nouvel état</translation>
    </message>
    <message>
        <source>New state, such as open</source>
        <translation>Nouvel état, par exemple ouvert</translation>
    </message>
    <message>
        <source>Enter makes a state of this name. Choose pictures, then press their state</source>
        <translation>Entrée crée un état de ce nom. Choisissez des images, puis appuyez sur leur état</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>Entraîner</translation>
    </message>
    <message>
        <source>Learns the states from these pictures, and tests itself on days that it did not see</source>
        <translation>Apprend les états sur ces images, et se vérifie sur des jours qu’il n’a pas vus</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>Verdict</translation>
    </message>
    <message>
        <source>Pictures that it gets wrong</source>
        <translation>Images sur lesquelles il se trompe</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>L’utiliser</translation>
    </message>
    <message>
        <source>Each sample stores the state, and each change is an event</source>
        <translation>Chaque mesure enregistre l’état, et chaque changement est un événement</translation>
    </message>
    <message>
        <source>The chosen pictures show this state; once more: they show none</source>
        <translation>Les images choisies montrent cet état&#xa0;; encore une fois&#xa0;: elles n’en montrent aucun</translation>
    </message>
    <message>
        <source>%1 % of %2 answers are right; sure on %3 %, of which %4 % are right.</source>
        <translation>%1&#xa0;% des %2 réponses sont justes&#xa0;; sûr pour %3&#xa0;%, dont %4&#xa0;% sont justes.</translation>
    </message>
    <message>
        <source>Too good, perhaps: the pictures are of one day, or have no times.</source>
        <translation>Peut-être trop bon&#xa0;: les images sont d’un seul jour, ou n’ont pas d’heure.</translation>
    </message>
    <message>
        <source>%1 is %2, but looks most like %3, which is %4</source>
        <translation>%1 est %2, mais ressemble le plus à %3, qui est %4</translation>
    </message>
    <message>
        <source>%1 is %2, taken for %3</source>
        <translation>%1 est %2, pris pour %3</translation>
    </message>
    <message>
        <source>Looking at picture %1 of %2</source>
        <translation>Regarde l’image %1 sur %2</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>Utilisé</translation>
    </message>
    <message>
        <source>Name of these states</source>
        <translation>Nom de ces états</translation>
    </message>
    <message>
        <source>A region may have several sets of states, such as gate and snow: write another name</source>
        <translation>Une région peut avoir plusieurs jeux d’états, comme portail et neige&#xa0;: écrivez un autre nom</translation>
    </message>
</context>
<context>
    <name>mpm::gui::StatusLine</name>
    <message>
        <source>Connection</source>
        <translation>Connexion</translation>
    </message>
    <message>
        <source>Age of the frame</source>
        <translation>Âge de l’image</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation>Message</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Stockage</translation>
    </message>
    <message>
        <source>Recording</source>
        <translation>Enregistrement</translation>
    </message>
    <message>
        <source>Frames per second</source>
        <translation>Images par seconde</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>Latence</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Jetons</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>En pause</translation>
    </message>
    <message>
        <source>frame of %1 ago</source>
        <translation>image d’il y a %1</translation>
    </message>
    <message>
        <source>%1 fps</source>
        <translation>%1 im/s</translation>
    </message>
    <message>
        <source>Samples are not stored: %1</source>
        <translation>Les échantillons ne sont pas enregistrés&#xa0;: %1</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>tokens %1</source>
        <translation>jetons %1</translation>
    </message>
    <message>
        <source> (%1 %)</source>
        <translation> (%1&#xa0;%)</translation>
    </message>
    <message>
        <source> (−%1 %)</source>
        <translation> (−%1&#xa0;%)</translation>
    </message>
    <message>
        <source>Store in a new file…</source>
        <translation>Enregistrer dans un nouveau fichier…</translation>
    </message>
    <message>
        <source>Alarms</source>
        <translation>Alarmes</translation>
    </message>
    <message numerus="yes">
        <source>%n alarm(s) ring</source>
        <translation>
            <numerusform>%n alarme sonne</numerusform>
            <numerusform>%n alarmes sonnent</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::StoredCamera</name>
    <message>
        <source>□ nothing is stored yet</source>
        <translation>□ rien n’est encore enregistré</translation>
    </message>
    <message>
        <source>● online</source>
        <translation>● en ligne</translation>
    </message>
    <message>
        <source>▲ without samples</source>
        <translation>▲ sans échantillons</translation>
    </message>
    <message>
        <source>▤ archive</source>
        <translation>▤ archive</translation>
    </message>
    <message>
        <source>■ ended</source>
        <translation>■ terminé</translation>
    </message>
    <message>
        <source>%1 ago</source>
        <translation>il y a %1</translation>
    </message>
    <message>
        <source>night</source>
        <translation>nuit</translation>
    </message>
    <message>
        <source>day</source>
        <translation>jour</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>inconnu</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Aujourd’hui</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s)</source>
        <translation>
            <numerusform>%n échantillon</numerusform>
            <numerusform>%n échantillons</numerusform>
        </translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1&#xa0;: %2</translation>
    </message>
</context>
<context>
    <name>mpm::gui::StoredMoments</name>
    <message>
        <source>No picture is stored near that time. File ▸ What is kept… makes a time-lapse</source>
        <translation>Aucune image n’est enregistrée vers ce moment. Fichier ▸ Ce qui est gardé… fait un accéléré</translation>
    </message>
    <message>
        <source>Stored picture of %1. Esc: back to live</source>
        <translation>Image enregistrée du %1. Échap&#xa0;: retour au direct</translation>
    </message>
    <message>
        <source>Stored picture of %1. Esc: back</source>
        <translation>Image enregistrée du %1. Échap&#xa0;: retour</translation>
    </message>
    <message>
        <source>There is no picture near that time any more</source>
        <translation>Il n’y a plus d’image proche de ce moment</translation>
    </message>
    <message>
        <source>The picture of this sample is not stored</source>
        <translation>L’image de cette mesure n’est pas enregistrée</translation>
    </message>
    <message>
        <source>%1. Esc: back to live</source>
        <translation>%1. Échap&#xa0;: retour au direct</translation>
    </message>
    <message>
        <source>No sample was read yet</source>
        <translation>Aucun échantillon n’a encore été lu</translation>
    </message>
    <message>
        <source>No picture is stored near that time</source>
        <translation>Aucune image n’est enregistrée près de ce moment</translation>
    </message>
</context>
<context>
    <name>mpm::gui::TaughtModelsPanel</name>
    <message>
        <source>good</source>
        <translation>bonne</translation>
    </message>
    <message>
        <source>fair</source>
        <translation>moyenne</translation>
    </message>
    <message>
        <source>label more</source>
        <translation>étiqueter plus</translation>
    </message>
    <message>
        <source>label it in two pictures</source>
        <translation>l’étiqueter dans deux images</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>Entraîner</translation>
    </message>
    <message>
        <source>Make a model of these labels, and test it on pictures that it was not trained on</source>
        <translation>Faire un modèle de ces étiquettes, et le tester sur des images qu’il n’a pas vues</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>Entraînement</translation>
    </message>
    <message>
        <source>Time left</source>
        <translation>Temps restant</translation>
    </message>
    <message>
        <source>Why there is no model</source>
        <translation>Pourquoi il n’y a pas de modèle</translation>
    </message>
    <message>
        <source>Trained model</source>
        <translation>Modèle entraîné</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>Verdict</translation>
    </message>
    <message>
        <source>Verdict on each class</source>
        <translation>Verdict par classe</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Classe</translation>
    </message>
    <message>
        <source>IoU, %</source>
        <translation>IoU,&#xa0;%</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>L’utiliser</translation>
    </message>
    <message>
        <source>The live view and what is stored go on with this model</source>
        <translation>La vue en direct et l’enregistrement continuent avec ce modèle</translation>
    </message>
    <message>
        <source>%1  ·  %2</source>
        <translation>%1  ·  %2</translation>
    </message>
    <message>
        <source>It begins…</source>
        <translation>Cela commence…</translation>
    </message>
    <message>
        <source>About %1 left</source>
        <translation>Encore %1 environ</translation>
    </message>
    <message>
        <source>No model yet. Label each class in two pictures or more, then train</source>
        <translation>Pas encore de modèle. Étiquetez chaque classe dans deux images ou plus, puis entraînez</translation>
    </message>
    <message>
        <source>Made from one picture: label a second one, and the model can be tested</source>
        <translation>Fait d’une seule image&#xa0;: étiquetez-en une deuxième, et le modèle pourra être testé</translation>
    </message>
    <message numerus="yes">
        <source>%n picture(s). mIoU %1 %; %2 % of the labelled pixels are right</source>
        <translation>
            <numerusform>%n image. mIoU %1&#xa0;%&#xa0;; %2&#xa0;% des pixels étiquetés sont justes</numerusform>
            <numerusform>%n images. mIoU %1&#xa0;%&#xa0;; %2&#xa0;% des pixels étiquetés sont justes</numerusform>
        </translation>
    </message>
    <message>
        <source>label more: taken for %1</source>
        <translation>étiqueter plus&#xa0;: prise pour %1</translation>
    </message>
    <message numerus="yes">
        <source>Labelled in %n picture(s)</source>
        <translation>
            <numerusform>Étiquetée dans %n image</numerusform>
            <numerusform>Étiquetée dans %n images</numerusform>
        </translation>
    </message>
    <message>
        <source>In use</source>
        <translation>En service</translation>
    </message>
    <message>
        <source>Back to %1</source>
        <translation>Retour à %1</translation>
    </message>
</context>
<context>
    <name>mpm::gui::TeachCanvas</name>
    <message>
        <source>Add a class first</source>
        <translation>Ajoutez d’abord une classe</translation>
    </message>
    <message>
        <source>The clusters of this picture come with the model: wait, or use the brush</source>
        <translation>Les groupes de cette image viennent avec le modèle&#xa0;: attendez, ou prenez le pinceau</translation>
    </message>
    <message>
        <source>There is no prediction of this picture yet</source>
        <translation>Il n’y a pas encore de prédiction pour cette image</translation>
    </message>
</context>
<context>
    <name>mpm::gui::TeachMode</name>
    <message>
        <source>Trained on your labels: the pale colours are what the model makes of this picture</source>
        <translation>Entraîné sur vos étiquettes&#xa0;: les couleurs pâles sont ce que le modèle voit dans cette image</translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation>Aucun modèle n’est chargé</translation>
    </message>
    <message>
        <source>Training on your labels…</source>
        <translation>Entraînement sur vos étiquettes…</translation>
    </message>
    <message>
        <source>Wait until the training has ended</source>
        <translation>Attendez la fin de l&apos;entraînement</translation>
    </message>
    <message>
        <source>%1 has another size: its labels do not fit this picture</source>
        <translation>%1 a une autre taille&#xa0;: ses étiquettes ne conviennent pas à cette image</translation>
    </message>
    <message>
        <source>%1 has no labels where this picture has none</source>
        <translation>%1 n’a pas d’étiquettes là où cette image n’en a pas</translation>
    </message>
    <message>
        <source>The labels of %1 are copied. Draw what differs; %2 takes them back</source>
        <translation>Les étiquettes de %1 sont copiées. Dessinez ce qui diffère&#xa0;; %2 les retire</translation>
    </message>
    <message>
        <source>The labels of %1 are copied, and moved a little as the camera was. Draw what differs; %2 takes them back</source>
        <translation>Les étiquettes de %1 sont copiées, et déplacées un peu comme la caméra l’a été. Dessinez ce qui diffère&#xa0;; %2 les retire</translation>
    </message>
    <message>
        <source>The labels of %1 in %2 are removed; %3 brings them back</source>
        <translation>Les étiquettes de %1 dans %2 sont supprimées&#xa0;; %3 les rétablit</translation>
    </message>
    <message>
        <source>There is no frame yet</source>
        <translation>Il n’y a pas encore d’image</translation>
    </message>
    <message numerus="yes">
        <source>Labels of %n picture(s) are imported</source>
        <translation>
            <numerusform>Étiquettes de %n image importées</numerusform>
            <numerusform>Étiquettes de %n images importées</numerusform>
        </translation>
    </message>
    <message>
        <source>%1. There is no picture for %2</source>
        <translation>%1. Il n’y a pas d’image pour %2</translation>
    </message>
</context>
<context>
    <name>mpm::gui::TeachPane</name>
    <message>
        <source>Picture to label</source>
        <translation>Image à étiqueter</translation>
    </message>
    <message>
        <source>No picture yet. Open a camera and take this picture with K, or add pictures from files on the right</source>
        <translation>Pas encore d’image. Ouvrez une caméra et prenez l’image avec K, ou ajoutez à droite des images de fichiers</translation>
    </message>
    <message>
        <source>Pictures</source>
        <translation>Images</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>Classes</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modèle</translation>
    </message>
    <message>
        <source>Training after each stroke</source>
        <translation>Entraînement après chaque trait</translation>
    </message>
    <message>
        <source>Cluster: fill what the model merged</source>
        <translation>Groupe&#xa0;: remplir ce que le modèle a fusionné</translation>
    </message>
    <message>
        <source>Brush</source>
        <translation>Pinceau</translation>
    </message>
    <message>
        <source>Polygon: click its corners, then Enter</source>
        <translation>Polygone&#xa0;: cliquer ses coins, puis Entrée</translation>
    </message>
    <message>
        <source>Eraser</source>
        <translation>Gomme</translation>
    </message>
    <message>
        <source>Accept: take over a region of the prediction</source>
        <translation>Accepter&#xa0;: reprendre une région de la prédiction</translation>
    </message>
    <message>
        <source>Move the picture</source>
        <translation>Déplacer l’image</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Rétablir</translation>
    </message>
    <message>
        <source>Size of the brush</source>
        <translation>Taille du pinceau</translation>
    </message>
    <message>
        <source> px</source>
        <translation> px</translation>
    </message>
    <message>
        <source>Size of brush and eraser (, and .)</source>
        <translation>Taille du pinceau et de la gomme (, et .)</translation>
    </message>
    <message>
        <source>Show where the model is not sure</source>
        <translation>Montrer où le modèle n’est pas sûr</translation>
    </message>
    <message>
        <source>Pictures, classes, labels and models</source>
        <translation>Images, classes, étiquettes et modèles</translation>
    </message>
    <message>
        <source>Labels</source>
        <translation>Étiquettes</translation>
    </message>
    <message>
        <source>States</source>
        <translation>États</translation>
    </message>
</context>
<context>
    <name>mpm::gui::TimesDialog</name>
    <message>
        <source>When were these pictures taken?</source>
        <translation>Quand ces images ont-elles été prises&#xa0;?</translation>
    </message>
    <message>
        <source>Their time</source>
        <translation>Leur date</translation>
    </message>
    <message>
        <source>EXIF, else the name of the file</source>
        <translation>EXIF, sinon le nom du fichier</translation>
    </message>
    <message>
        <source>EXIF</source>
        <translation>EXIF</translation>
    </message>
    <message>
        <source>Name of the file</source>
        <translation>Nom du fichier</translation>
    </message>
    <message>
        <source>A list of names and times</source>
        <translation>Une liste de noms et de dates</translation>
    </message>
    <message>
        <source>Date of the file</source>
        <translation>Date du fichier</translation>
    </message>
    <message>
        <source>Not known: they count as taken when they are read</source>
        <translation>Inconnue&#xa0;: elles comptent comme prises au moment de leur lecture</translation>
    </message>
    <message>
        <source>List of names and times</source>
        <translation>Liste de noms et de dates</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>Parcourir…</translation>
    </message>
    <message>
        <source>Time zone</source>
        <translation>Fuseau horaire</translation>
    </message>
    <message>
        <source>Found</source>
        <translation>Trouvé</translation>
    </message>
    <message>
        <source>List</source>
        <translation>Liste</translation>
    </message>
    <message>
        <source>Pictures with a time are stored once, at that time, in its order.</source>
        <translation>Les images datées sont enregistrées une seule fois, à leur date et dans cet ordre.</translation>
    </message>
    <message>
        <source>Lists (*.csv *.txt *.tsv);;All files (*)</source>
        <translation>Listes (*.csv *.txt *.tsv);;Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>The time at which each is read</source>
        <translation>Le moment de la lecture de chacune</translation>
    </message>
    <message>
        <source>list</source>
        <translation>liste</translation>
    </message>
    <message>
        <source>name</source>
        <translation>nom</translation>
    </message>
    <message>
        <source>date of the file</source>
        <translation>date du fichier</translation>
    </message>
    <message>
        <source>no time</source>
        <translation>sans date</translation>
    </message>
    <message>
        <source>Where were they taken?</source>
        <translation>Où ont-elles été prises&#xa0;?</translation>
    </message>
    <message>
        <source>Where the place is known, the sun there tells day from night.</source>
        <translation>Si le lieu est connu, le soleil y distingue le jour de la nuit.</translation>
    </message>
    <message>
        <source>A place has a latitude and a longitude.</source>
        <translation>Un lieu a une latitude et une longitude.</translation>
    </message>
    <message>
        <source>Choose the list of names and times.</source>
        <translation>Choisissez la liste des noms et des heures.</translation>
    </message>
    <message>
        <source>The list is being read…</source>
        <translation>La liste est en cours de lecture…</translation>
    </message>
</context>
<context>
    <name>mpm::gui::TuneDialog</name>
    <message>
        <source>the full model</source>
        <translation>le modèle complet</translation>
    </message>
    <message>
        <source>Tune for this camera</source>
        <translation>Régler pour cette caméra</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>L’utiliser</translation>
    </message>
    <message>
        <source>Least agreement</source>
        <translation>Accord minimal</translation>
    </message>
    <message>
        <source> % of the pixels</source>
        <translation>&#xa0;% des pixels</translation>
    </message>
    <message>
        <source>The same class on at least</source>
        <translation>La même classe sur au moins</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Avancement</translation>
    </message>
    <message>
        <source>Reductions, the fastest first</source>
        <translation>Réductions, la plus rapide d’abord</translation>
    </message>
    <message>
        <source>Reduction</source>
        <translation>Réduction</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Vitesse</translation>
    </message>
    <message>
        <source>Same</source>
        <translation>Accord</translation>
    </message>
    <message>
        <source>At least</source>
        <translation>Au moins</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Jetons</translation>
    </message>
    <message>
        <source>What --reduce takes</source>
        <translation>Ce que --reduce prend</translation>
    </message>
    <message>
        <source>Times as fast as the full model</source>
        <translation>Nombre de fois plus rapide que le modèle complet</translation>
    </message>
    <message>
        <source>Pixels with the class of the full model, in percent</source>
        <translation>Pixels de la même classe qu’avec le modèle complet, en pour cent</translation>
    </message>
    <message>
        <source>The lower end of the 95 % interval of that number. It decides</source>
        <translation>Borne inférieure de l’intervalle à 95&#xa0;% de ce nombre. C’est elle qui décide</translation>
    </message>
    <message>
        <source>Tokens at the end, on average</source>
        <translation>Jetons à la fin, en moyenne</translation>
    </message>
    <message>
        <source>Leave it as it is</source>
        <translation>Ne rien changer</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Collecting frames: %1 of %2. The live picture goes on.</source>
        <translation>Collecte d’images&#xa0;: %1 sur %2. Le direct continue.</translation>
    </message>
    <message>
        <source>Measuring reductions. The live picture is paused.</source>
        <translation>Mesure des réductions. Le direct est en pause.</translation>
    </message>
    <message>
        <source>No reduction of the table is faster and keeps enough labels, so the full model stays. Ask for a little less agreement to have a choice.</source>
        <translation>Aucune réduction du tableau n’est plus rapide tout en gardant assez de classes&#xa0;: le modèle complet reste. Demandez un peu moins d’accord pour avoir le choix.</translation>
    </message>
    <message>
        <source>%1 is the fastest that keeps the labels: %2 times as fast as the full model, with the same class on %3 % of the pixels (95 % interval from %4 %). Of reductions that are as fast within noise it agrees most.</source>
        <translation>%1 est la plus rapide qui garde les classes&#xa0;: %2 fois plus rapide que le modèle complet, avec la même classe pour %3&#xa0;% des pixels (intervalle à 95&#xa0;% à partir de %4&#xa0;%). Des réductions aussi rapides au bruit près, c’est celle qui s’accorde le plus.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
</context>
<context>
    <name>mpm::gui::Tuning</name>
    <message>
        <source>Open a source first: it is tuned for what that shows</source>
        <translation>Ouvrez d’abord une source&#xa0;: le réglage se fait pour ce qu’elle montre</translation>
    </message>
    <message>
        <source>No frames come: the source is paused, lost or at its end</source>
        <translation>Aucune image n’arrive&#xa0;: la source est en pause, perdue ou terminée</translation>
    </message>
</context>
<context>
    <name>mpm::gui::WelcomePage</name>
    <message>
        <source>Watch a place, see what a transformer can merge</source>
        <translation>Observez un lieu, voyez ce qu’un transformeur peut fusionner</translation>
    </message>
    <message>
        <source>A vision transformer cuts each picture into patches. Mutual Pair Merging joins patches that are each other&apos;s most similar one, so that fewer tokens do the same work. Here you see which, live, and how their number follows day and night.</source>
        <translation>Un transformeur de vision découpe chaque image en carrés. La fusion de paires mutuelles réunit ceux qui se ressemblent le plus l’un l’autre&#xa0;: moins de jetons font le même travail. Voyez lesquels, en direct, et comment leur nombre suit le jour et la nuit.</translation>
    </message>
    <message>
        <source>Try the demo</source>
        <translation>Essayer la démo</translation>
    </message>
    <message>
        <source>A rendered street by day and night, with a model that knows it</source>
        <translation>Une rue de synthèse de jour et de nuit, avec un modèle qui la connaît</translation>
    </message>
    <message>
        <source>Camera</source>
        <translation>Caméra</translation>
    </message>
    <message>
        <source>Video</source>
        <translation>Vidéo</translation>
    </message>
    <message>
        <source>Image folder</source>
        <translation>Dossier d’images</translation>
    </message>
    <message>
        <source>Network camera (RTSP)</source>
        <translation>Caméra réseau (RTSP)</translation>
    </message>
    <message>
        <source>Or drop a video, a folder or an ONNX model anywhere on this window.</source>
        <translation>Ou déposez une vidéo, un dossier ou un modèle ONNX n’importe où dans cette fenêtre.</translation>
    </message>
    <message>
        <source>Go on with</source>
        <translation>Continuer avec</translation>
    </message>
    <message>
        <source>%1  ·  %2</source>
        <translation>%1  ·  %2</translation>
    </message>
</context>
<context>
    <name>mpm::gui::WindowLook</name>
    <message>
        <source>Dar&amp;k</source>
        <translation>S&amp;ombre</translation>
    </message>
    <message>
        <source>T</source>
        <translation>T</translation>
    </message>
    <message>
        <source>&amp;Larger text</source>
        <translation>Texte plus &amp;grand</translation>
    </message>
    <message>
        <source>Ctrl++</source>
        <translation>Ctrl++</translation>
    </message>
    <message>
        <source>&amp;Smaller text</source>
        <translation>Texte plus &amp;petit</translation>
    </message>
    <message>
        <source>Ctrl+-</source>
        <translation>Ctrl+-</translation>
    </message>
    <message>
        <source>&amp;Full screen</source>
        <translation>Plein é&amp;cran</translation>
    </message>
    <message>
        <source>F11</source>
        <translation>F11</translation>
    </message>
    <message>
        <source>&amp;Restore the default layout</source>
        <translation>&amp;Rétablir la disposition</translation>
    </message>
    <message>
        <source>Ctrl+L</source>
        <translation>Ctrl+L</translation>
    </message>
</context>
<context>
    <name>outages</name>
    <message>
        <source>no samples</source>
        <translation>aucun échantillon</translation>
    </message>
    <message>
        <source>damaged pictures</source>
        <translation>images abîmées</translation>
    </message>
    <message>
        <source>dark</source>
        <translation>sombre</translation>
    </message>
    <message>
        <source>overexposed</source>
        <translation>surexposée</translation>
    </message>
    <message>
        <source>blurred</source>
        <translation>floue</translation>
    </message>
    <message>
        <source>covered or fogged</source>
        <translation>couverte ou voilée</translation>
    </message>
    <message>
        <source>stuck</source>
        <translation>figée</translation>
    </message>
    <message>
        <source>too slow</source>
        <translation>trop lente</translation>
    </message>
    <message>
        <source>moved</source>
        <translation>déplacée</translation>
    </message>
    <message>
        <source>outages</source>
        <translation>pannes</translation>
    </message>
</context>
<context>
    <name>pictureDialog</name>
    <message>
        <source>Preview</source>
        <translation>Aperçu</translation>
    </message>
</context>
<context>
    <name>quantities</name>
    <message>
        <source>Tokens kept</source>
        <translation>Jetons gardés</translation>
    </message>
    <message>
        <source>Merged away</source>
        <translation>Fusionnés</translation>
    </message>
    <message>
        <source>Inference</source>
        <translation>Inférence</translation>
    </message>
    <message>
        <source>Rows computed</source>
        <translation>Lignes calculées</translation>
    </message>
    <message>
        <source>Agreement of key frames</source>
        <translation>Accord des images clés</translation>
    </message>
    <message>
        <source>Green share, gcc</source>
        <translation>Part du vert, gcc</translation>
    </message>
    <message>
        <source>Red share, rcc</source>
        <translation>Part du rouge, rcc</translation>
    </message>
    <message>
        <source>Excess green, ExG</source>
        <translation>Excès de vert, ExG</translation>
    </message>
    <message>
        <source>Brightness</source>
        <translation>Luminosité</translation>
    </message>
    <message>
        <source>Mean red</source>
        <translation>Rouge moyen</translation>
    </message>
    <message>
        <source>Mean green</source>
        <translation>Vert moyen</translation>
    </message>
    <message>
        <source>Mean blue</source>
        <translation>Bleu moyen</translation>
    </message>
    <message>
        <source>Deviation of red</source>
        <translation>Écart-type du rouge</translation>
    </message>
    <message>
        <source>Deviation of green</source>
        <translation>Écart-type du vert</translation>
    </message>
    <message>
        <source>Deviation of blue</source>
        <translation>Écart-type du bleu</translation>
    </message>
    <message>
        <source>Pixels</source>
        <translation>Pixels</translation>
    </message>
    <message>
        <source>Frames dropped</source>
        <translation>Images perdues</translation>
    </message>
    <message>
        <source>Sharpness</source>
        <translation>Netteté</translation>
    </message>
    <message>
        <source>Contrast</source>
        <translation>Contraste</translation>
    </message>
    <message>
        <source>White pixels</source>
        <translation>Pixels blancs</translation>
    </message>
    <message>
        <source>Left out</source>
        <translation>Écartées</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Sombre</translation>
    </message>
    <message>
        <source>Overexposed</source>
        <translation>Surexposée</translation>
    </message>
    <message>
        <source>Blurred</source>
        <translation>Floue</translation>
    </message>
    <message>
        <source>Covered or fogged</source>
        <translation>Couverte ou brumeuse</translation>
    </message>
    <message>
        <source>Unchanged</source>
        <translation>Inchangée</translation>
    </message>
</context>
<context>
    <name>regions</name>
    <message>
        <source>%1 (ignored)</source>
        <translation>%1 (ignorée)</translation>
    </message>
</context>
<context>
    <name>sourceTitle</name>
    <message>
        <source>Demo street</source>
        <translation>Rue de démonstration</translation>
    </message>
    <message>
        <source>Camera %1</source>
        <translation>Caméra %1</translation>
    </message>
</context>
</TS>
