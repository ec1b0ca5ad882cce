<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>Readout</name>
    <message numerus="yes">
        <source>kept for %n frame(s)</source>
        <translation>
            <numerusform>kept for %n frame</numerusform>
            <numerusform>kept for %n frames</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::Exports</name>
    <message numerus="yes">
        <source>%n sample(s) exported to %1</source>
        <translation>
            <numerusform>%n sample exported to %1</numerusform>
            <numerusform>%n samples exported to %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::History</name>
    <message numerus="yes">
        <source>%n gap(s), the longest of %1</source>
        <translation>
            <numerusform>%n gap, of %1</numerusform>
            <numerusform>%n gaps, the longest of %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::InspectorPanel</name>
    <message numerus="yes">
        <source>%n patch(es)</source>
        <translation>
            <numerusform>%n patch</numerusform>
            <numerusform>%n patches</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::LabelPicturesPanel</name>
    <message numerus="yes">
        <source>%n of %1 pictures are labelled</source>
        <translation>
            <numerusform>%n of %1 pictures is labelled</numerusform>
            <numerusform>%n of %1 pictures are labelled</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::LiveTrainer</name>
    <message numerus="yes">
        <source>none of the %n stored picture(s) can be read</source>
        <translation>
            <numerusform>the stored picture cannot be read</numerusform>
            <numerusform>none of the %n stored pictures can be read</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::PictureSuggestions</name>
    <message numerus="yes">
        <source>Comparing %n picture(s)…</source>
        <translation>
            <numerusform>Comparing %n picture…</numerusform>
            <numerusform>Comparing %n pictures…</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::PicturesPane</name>
    <message numerus="yes">
        <source>%n patch(es)</source>
        <translation>
            <numerusform>%n patch</numerusform>
            <numerusform>%n patches</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::Recording</name>
    <message numerus="yes">
        <source>%n file(s) of old pictures forgotten</source>
        <translation>
            <numerusform>%n file of old pictures forgotten</numerusform>
            <numerusform>%n files of old pictures forgotten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>● REC %n picture(s)</source>
        <translation>
            <numerusform>● REC %n picture</numerusform>
            <numerusform>● REC %n pictures</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::RegionsDialog</name>
    <message numerus="yes">
        <source>%n region(s) read</source>
        <translation>
            <numerusform>%n region read</numerusform>
            <numerusform>%n regions read</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::SourcePanel</name>
    <message numerus="yes">
        <source>%n read(s) hang</source>
        <translation>
            <numerusform>%n read hangs</numerusform>
            <numerusform>%n reads hang</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 blocks of width %2, %3 × %4 patches (width × height), %n class(es)</source>
        <translation>
            <numerusform>%1 blocks of width %2, %3 × %4 patches (width × height), %n class</numerusform>
            <numerusform>%1 blocks of width %2, %3 × %4 patches (width × height), %n classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln of %1 pictures are stored</source>
        <translation>
            <numerusform>%Ln of %1 pictures is stored</numerusform>
            <numerusform>%Ln of %1 pictures are stored</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln of %1 pictures could not be read</source>
        <translation>
            <numerusform>%Ln of %1 pictures could not be read</numerusform>
            <numerusform>%Ln of %1 pictures could not be read</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln of %1 pictures</source>
        <translation>
            <numerusform>%Ln of %1 pictures</numerusform>
            <numerusform>%Ln of %1 pictures</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::StatusLine</name>
    <message numerus="yes">
        <source>%n alarm(s) ring</source>
        <translation>
            <numerusform>%n alarm rings</numerusform>
            <numerusform>%n alarms ring</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::StoredCamera</name>
    <message numerus="yes">
        <source>%n sample(s)</source>
        <translation>
            <numerusform>%n sample</numerusform>
            <numerusform>%n samples</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::TaughtModelsPanel</name>
    <message numerus="yes">
        <source>%n picture(s). mIoU %1 %; %2 % of the labelled pixels are right</source>
        <translation>
            <numerusform>%n picture. mIoU %1 %; %2 % of the labelled pixels are right</numerusform>
            <numerusform>%n pictures. mIoU %1 %; %2 % of the labelled pixels are right</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Labelled in %n picture(s)</source>
        <translation>
            <numerusform>Labelled in %n picture</numerusform>
            <numerusform>Labelled in %n pictures</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mpm::gui::TeachMode</name>
    <message numerus="yes">
        <source>Labels of %n picture(s) are imported</source>
        <translation>
            <numerusform>Labels of %n picture are imported</numerusform>
            <numerusform>Labels of %n pictures are imported</numerusform>
        </translation>
    </message>
</context>
</TS>
