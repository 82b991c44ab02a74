//! Function words of some languages: articles, pronouns, prepositions, conjunctions and auxiliaries.
//!
//! They are in nearly every text of their language, so they identify the language and carry no topic. Words that are
//! also common content words are left out. Words are written as usual and compared in canonical form.

/// Languages by ISO 639-1 code, each with its function words.
pub const STOP_WORDS: [(&str, &str); 13] = [
    ("en", "a an the this that these those i me my mine you your yours he him his she her hers it its we us our ours \
        they them their theirs who whom whose which what and or but nor so if than then because as until while of at by \
        for with about against between into through during before after above below to from up down in out on off over \
        under again there here when where why how all any both each few more most other some such no not only own same \
        too very can could will would shall should may might must do does did is am are was were be been being have has \
        had having i'm it's don't doesn't didn't isn't aren't wasn't can't won't"),
    ("de", "der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner ich mich mir du dich \
        dir er ihn ihm sie ihr ihnen es wir uns euch mein dein sein seine seinen seinem seiner ihre ihren ihrem ihrer \
        unser dieser diese dieses diesen diesem jener jede jeder jedes und oder aber denn sondern doch wenn weil dass daß \
        ob als wie obwohl damit in im an am auf aus bei beim mit nach von vom vor zu zum zur über unter zwischen durch \
        für gegen ohne um bis seit während ist sind war waren bin bist wird werden wurde wurden worden hat haben hatte \
        hatten kann können konnte muss müssen soll sollen will wollen nicht auch noch nur schon so sehr hier dort da dann \
        wer was wo wann warum man sich"),
    ("fr", "le la les l un une des du de d au aux je tu il elle on nous vous ils elles me te se moi toi lui leur leurs y \
        en mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces cela ça celui celle ceux qui que qu quoi \
        dont où et ou mais donc or ni car si quand comme parce puisque lorsque à dans par pour sans sous sur vers avec \
        chez entre depuis pendant avant après contre jusque ne pas plus moins très aussi tout toute tous toutes même est \
        sont était étaient être été suis es sommes êtes sera seront serait a ai as avons avez ont avait avaient avoir eu \
        fait peut peuvent doit"),
    ("es", "el la los las lo un una unos unas al del yo tú él ella ello nosotros vosotros ellos ellas usted ustedes me te \
        se le les nos os mi mis tu tus su sus nuestro nuestra nuestros nuestras este esta esto estos estas ese esa eso \
        esos esas aquel aquella que quien quienes cual cuales cuyo donde cuando como cuanto y e o u ni pero sino si \
        porque pues aunque mientras a ante bajo con contra de desde durante en entre hacia hasta para por según sin sobre \
        tras no sí ya muy más menos también tampoco es son era eran fue fueron ser sido soy eres somos está están estaba \
        estar ha han había habían haber he hay puede pueden debe"),
    ("it", "il lo la i gli le l un uno una dei degli delle del dello della dell al allo alla ai agli alle dal dalla nel \
        nella nei sul sulla col io tu egli lui lei esso noi voi essi loro mi ti si ci vi ne me te mio mia miei tuo suo \
        sua suoi sue nostro nostra vostro questo questa questi queste quello quella quelli che chi cui quale quali dove \
        quando come perché e ed o ma però se anche né di a da in con su per tra fra senza sotto sopra dopo prima contro \
        verso non più meno molto già è sono era erano sei siamo siete essere stato stata fu ho hai ha abbiamo avete hanno \
        aveva avevano avere può possono deve"),
    ("pt", "o a os as um uma uns umas ao aos à às do da dos das no na nos nas num numa pelo pela pelos pelas eu tu ele ela \
        nós vós eles elas você vocês me te se lhe lhes meu minha meus minhas teu seu sua seus suas nosso nossa este esta \
        isto estes estas esse essa isso esses essas aquele aquela aquilo que quem qual quais cujo onde quando como porque \
        e ou mas nem se embora enquanto de em por para com sem sob sobre entre até desde contra após não sim já muito \
        mais menos também é são era eram foi foram ser sido sou está estão estava estar há tem têm tinha ter haver pode \
        podem deve"),
    ("nl", "de het een der des ik mij me jij je jou u hij hem zij ze haar het wij we ons jullie hun hen mijn jouw zijn onze \
        deze dit die dat wie wat welke waar wanneer waarom hoe en of maar want dus als dan omdat terwijl hoewel in op aan \
        bij met van voor naar uit over onder tussen door tegen zonder om tot sinds na niet geen ook nog al maar zeer \
        is ben bent zijn was waren wordt worden werd werden geweest heeft heb hebt hebben had hadden kan kunnen kon moet \
        moeten zal zullen zou zouden wil er hier daar zich"),
    ("sv", "en ett den det de dem som jag mig du dig han honom hon henne vi oss ni er min mitt mina din ditt sin sitt sina \
        hans hennes vår vårt våra deras denna detta dessa och eller men för att om när där hur varför vad vem vilken i på \
        av till från med utan under över mellan genom mot efter före vid hos inte ej också bara mycket mer än är var \
        varit vara blir blev bli har hade ha kan kunde ska skulle vill måste så nu här man sig"),
    ("da", "en et den det de dem som jeg mig du dig han ham hun hende vi os i jer min mit mine din dit sin sit sine hans \
        hendes vores deres denne dette disse og eller men for at om når hvor hvordan hvorfor hvad hvem hvilken på af til \
        fra med uden under over mellem gennem mod efter før ved hos ikke også kun meget mere end er var været være bliver \
        blev har havde have kan kunne skal skulle vil ville må så nu her man sig"),
    ("nb", "en ei et den det de dem som jeg meg du deg han ham hun henne vi oss dere min mitt mine din ditt sin sitt sine \
        hans hennes vår vårt våre deres denne dette disse og eller men for at om når hvor hvordan hvorfor hva hvem hvilken \
        i på av til fra med uten under over mellom gjennom mot etter før ved hos ikke også bare mye mer enn er var vært \
        være blir ble har hadde ha kan kunne skal skulle vil ville må så nå her man seg"),
    ("ru", "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее её мне вот от меня о из ему \
        когда даже ну ли если или ни быть был была были было него до вас уж вам ведь там потом себя ей они тут где есть \
        надо ней для мы тебя их чем сам чтоб чтобы без чего тоже себе под будет кто этот эта это эти того потому этого \
        какой ним здесь этом один мой тем нее неё при об после над через эту нас про них какая который которая которые \
        между"),
    ("tr", "ve veya ya ile için ama fakat ancak çünkü ki de da mi mı mu mü bir bu şu o ben sen biz siz onlar beni seni onu \
        bizi sizi onları bana sana ona benim senin onun bizim sizin onların ne kim hangi nasıl neden niçin nerede her \
        bazı hiç çok daha en gibi kadar göre sonra önce üzere değil var yok ise olan olarak oldu olduğu olur eğer hem \
        hep şey kendi diye"),
    ("ar", "في من على إلى عن أن إن هذا هذه ذلك تلك التي الذي الذين ما لا لم لن قد كان كانت يكون هو هي هم نحن أنا أنت مع \
        بين بعد قبل عند حتى منذ كل بعض غير أو ثم لكن إذا كما حيث أي"),
];
