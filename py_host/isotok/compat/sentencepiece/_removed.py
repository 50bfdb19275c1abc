"""Names that sentencepiece had up to 0.2.1 (some up to 0.2.2) and no longer has."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, cast

from isotok.compat.sentencepiece import _arguments as arguments
from isotok.compat.sentencepiece import _model_file as model_file
from isotok.compat.sentencepiece._errors import FileError, file_error, internal
from isotok.compat.sentencepiece._model import UNUSED, Model, open_bytes
from isotok.compat.sentencepiece._model_file import PieceChange
from isotok.compat.sentencepiece._outputs import Extra, Output, over
from isotok.compat.sentencepiece._scored import ScoredRequest, Scorer
from isotok.compat.sentencepiece._tokens import character_size

NORMAL: Final = 1
BYTE: Final = 6
_EXTRA: Final = {"bos": "bos", "eos": "eos", "reverse": "reverse", "unk": "unk", "unk_piece": "unk"}
_TRUE: Final = ("1", "t", "true", "y", "yes", "")
_FALSE: Final = ("0", "f", "false", "n", "no")


class Removed:
    """The part of `SentencePieceProcessor` with the older names."""

    _model: Model | None
    _loaded_model: Model | None
    _extra_encode: Extra
    _extra_decode: Extra
    _wanted: set[bytes] | None
    _scorer: Scorer | None

    def Init(self, *args: Any, **kwargs: Any) -> None:
        """Do what the class does when it is called."""
        type(self).__init__(self, *args, **kwargs)

    # -- vocabulary ---------------------------------------------------------------

    def SetVocabulary(self, valid_vocab: list[str]) -> bool:
        """Encode with these pieces, single characters and user-defined pieces only."""
        if not isinstance(valid_vocab, list):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"valid_vocab must be a list of str, not {valid_vocab!r}")
        try:
            wanted = set(arguments.each_bytes(valid_vocab))
        except TypeError:
            raise TypeError("list must contain strings") from None
        self._model = _restricted(self._segmenting(), wanted)
        self._wanted = wanted
        return True

    def ResetVocabulary(self) -> bool:
        """Encode with all pieces again, those that were UNUSED in the file too."""
        model = self._segmenting()
        changes = {
            token_id: PieceChange(NORMAL)
            for token_id in range(model.size)
            if model.is_unused(token_id)
        }
        changed = model_file.with_pieces(model.proto, changes)
        self._model = Model(changed, compat=model.compat) if changes else model
        self._wanted = None
        return True

    def LoadVocabulary(self, filename: Any, threshold: int) -> bool:
        """Set the vocabulary to the pieces of a file whose count is `threshold` or more.

        A line is a piece, a tab and its count; without a count it is 1.
        """
        limit = arguments.whole("threshold", threshold)
        path = arguments.path_of("filename", filename)
        try:
            with open(path, encoding="utf-8", newline="\n") as file:
                lines = [line.rstrip("\n").split("\t") for line in file]
        except OSError as error:
            raise file_error(path, error) from error
        wanted = [line[0] for line in lines if (_count(line) if len(line) > 1 else 1) >= limit]
        return self.SetVocabulary(wanted)

    def _segmenting(self) -> Model:
        """Return the model without a vocabulary of the caller's."""
        model = self._loaded_model or self._need_model()
        if model.algorithm not in ("unigram", "bpe"):
            raise internal(
                "Vocabulary constraint is only enabled in subword units (unigram and bpe models)."
            )
        return model

    def _need_model(self) -> Model:
        if self._model is None:
            raise internal("Model is not initialized.")
        return self._model

    # -- options ------------------------------------------------------------------

    def SetEncodeExtraOptions(self, extra_option: str) -> bool:
        """Change what every later call encodes: "bos", "eos", "reverse", "unk", in this order.

        Several are joined by colons and applied one after the other; "" is none.
        """
        self._extra_encode = ()
        for name in self._options(extra_option):
            self._extra_encode = (*self._extra_encode, name)
        return True

    def SetDecodeExtraOptions(self, extra_option: str) -> bool:
        """Change what every later call decodes; as `SetEncodeExtraOptions`."""
        self._extra_decode = ()
        for name in self._options(extra_option):
            self._extra_decode = (*self._extra_decode, name)
        return True

    def _options(self, text: str) -> Any:
        """Check the options one after the other."""
        if not text:
            return
        model = self._need_model()
        for name in text.split(":"):
            if name not in _EXTRA:
                raise internal(f'option "{name}" is not available.')
            missing = {"bos": model.bos_id < 0, "eos": model.eos_id < 0}
            if missing.get(name):
                raise internal(f"id for `{name}` is not defined.")
            yield _EXTRA[name]

    def OverrideNormalizerSpec(self, **kwargs: Any) -> bool:
        """Change add_dummy_prefix, remove_extra_whitespaces or escape_whitespaces."""
        self._need_model()
        model = cast("Model", self._loaded_model)
        flags: dict[str, bool] = {}
        for name, value in kwargs.items():
            if name in ("name", "normalization_rule_tsv", "precompiled_charsmap"):
                continue  # the rules in use stay what they are
            if name not in model_file.NORMALIZER_FLAGS:
                raise FileError(f'NOT_FOUND: unknown field name "{name}" in NormalizerSpec.')
            flags[name] = _truth(value)
        spec = model_file.with_normalizer_flags(model_file.normalizer_spec_of(model.proto), flags)
        changed = model_file.with_normalizer(model.proto, spec)
        self._loaded_model = self._model = Model(changed, compat=model.compat)
        if self._wanted is not None:
            self.SetVocabulary([piece.decode() for piece in self._wanted])
        return True

    # -- probabilities ------------------------------------------------------------

    def _scores(self) -> Scorer:
        model = self._need_model()
        if self._scorer is None or self._scorer.model is not model:
            self._scorer = Scorer(model)
        return self._scorer

    def CalculateEntropy(self, input: Any, alpha: float, num_threads: int | None = None) -> Any:
        """Entropy in nats of the segmentations of a text, or of each of a list.

        Their probabilities are P ~ exp(alpha * score). Unigram models only; slow.
        """
        number = arguments.real("alpha", alpha)
        if num_threads is not None:
            arguments.need_thread_number(num_threads)
        return over(input, lambda text: self._scores().entropy(arguments.text_bytes(text), number))

    def SampleEncodeAndScore(
        self,
        input: Any,
        out_type: Any = None,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        num_samples: int | None = None,
        alpha: float | None = None,
        wor: bool | None = None,
        include_best: bool | None = None,
        return_type: Any = None,
    ) -> Any:
        """Draw segmentations of a text, or of each of a list, with their scores.

        Unigram models only; slow.

        Parameters
        ----------
        num_samples : int
            How many; 1 if not given.
        alpha : float
            P ~ exp(alpha * score); 1 if not given.
        wor : bool
            Without replacement: the score is the logarithm of the probability to be drawn,
            not of P.
        include_best : bool
            Put the best segmentation in front, with the score 0; only without replacement.
        """
        self_ = cast("Any", self)
        kind = arguments.return_type_of(return_type, out_type, self_._return_type)
        request = ScoredRequest(
            num_samples=arguments.whole("num_samples", 1 if num_samples is None else num_samples),
            alpha=arguments.real("alpha", 1.0 if alpha is None else alpha),
            wor=arguments.flag("wor", wor),
            include_best=arguments.flag("include_best", include_best),
        )
        if request.num_samples <= 0:
            raise RuntimeError("num_examples must be positive")
        if request.include_best and not request.wor:
            raise RuntimeError('When include_best is True, We must specify "wor = True".')
        output: Output = self_._output(kind, add_bos, add_eos, reverse, emit_unk_piece)

        def one(text: object) -> Any:
            data = arguments.text_bytes(text)
            scorer = self._scores()
            output.check_model(scorer.model)
            found = scorer.sample(data, request)
            several = output.of_several(scorer.model, found)
            if not isinstance(several, list):
                return several
            scores = [tokens.score for tokens in found]
            return list(zip(cast("list[Any]", several), scores, strict=True))

        return over(input, one)

    def SampleEncodeAndScoreAsPieces(
        self, input: Any, num_samples: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """Draw pieces with scores."""
        return self.SampleEncodeAndScore(
            input=input, num_samples=num_samples, alpha=alpha, out_type=str, **kwargs
        )

    def SampleEncodeAndScoreAsIds(
        self, input: Any, num_samples: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """Draw ids with scores."""
        return self.SampleEncodeAndScore(
            input=input, num_samples=num_samples, alpha=alpha, out_type=int, **kwargs
        )

    def SampleEncodeAndScoreAsSerializedProto(
        self, input: Any, num_samples: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """Draw messages with scores, serialized."""
        return self.SampleEncodeAndScore(
            input=input, num_samples=num_samples, alpha=alpha, out_type="serialized_proto", **kwargs
        )

    def SampleEncodeAndScoreAsImmutableProto(
        self, input: Any, num_samples: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """Draw read-only messages with scores."""
        return self.SampleEncodeAndScore(
            input=input, num_samples=num_samples, alpha=alpha, out_type="immutable_proto", **kwargs
        )

    # -- messages -----------------------------------------------------------------

    def _encode_as(self, kind: str, input: Any, kwargs: dict[str, Any]) -> Any:
        return cast("Any", self).Encode(input=input, out_type=kind, **kwargs)

    def EncodeAsSerializedProto(self, input: Any, **kwargs: Any) -> Any:
        """Encode to a serialized SentencePieceText."""
        return self._encode_as("serialized_proto", input, kwargs)

    def EncodeAsImmutableProto(self, input: Any, **kwargs: Any) -> Any:
        """Encode to an ImmutableSentencePieceText."""
        return self._encode_as("immutable_proto", input, kwargs)

    def SampleEncodeAsSerializedProto(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """Draw a segmentation as a serialized SentencePieceText."""
        options = {"nbest_size": nbest_size, "alpha": alpha, "enable_sampling": True, **kwargs}
        return self._encode_as("serialized_proto", input, options)

    def SampleEncodeAsImmutableProto(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """Draw a segmentation as an ImmutableSentencePieceText."""
        options = {"nbest_size": nbest_size, "alpha": alpha, "enable_sampling": True, **kwargs}
        return self._encode_as("immutable_proto", input, options)

    def NBestEncodeAsSerializedProto(
        self, input: Any, nbest_size: int | None = None, **kwargs: Any
    ) -> Any:
        """List the best segmentations in a serialized NBestSentencePieceText."""
        options = {"nbest_size": nbest_size, "out_type": "serialized_proto", **kwargs}
        return cast("Any", self).NBestEncode(input=input, **options)

    def NBestEncodeAsImmutableProto(
        self, input: Any, nbest_size: int | None = None, **kwargs: Any
    ) -> Any:
        """List the best segmentations in an ImmutableNBestSentencePieceText."""
        options = {"nbest_size": nbest_size, "out_type": "immutable_proto", **kwargs}
        return cast("Any", self).NBestEncode(input=input, **options)

    def _decode_as(self, kind: str, input: Any, kwargs: dict[str, Any]) -> Any:
        if isinstance(input, list) and not input:
            return ""
        return cast("Any", self).Decode(input=input, **{"out_type": kind, **kwargs})

    def DecodePiecesAsSerializedProto(self, input: Any, **kwargs: Any) -> Any:
        """Decode pieces to a serialized SentencePieceText."""
        return self._decode_as("serialized_proto", input, kwargs)

    def DecodeIdsAsSerializedProto(self, input: Any, **kwargs: Any) -> Any:
        """Decode ids to a serialized SentencePieceText."""
        return self._decode_as("serialized_proto", input, kwargs)

    def DecodePiecesAsImmutableProto(self, input: Any, **kwargs: Any) -> Any:
        """Decode pieces to an ImmutableSentencePieceText."""
        return self._decode_as("immutable_proto", input, kwargs)

    def DecodeIdsAsImmutableProto(self, input: Any, **kwargs: Any) -> Any:
        """Decode ids to an ImmutableSentencePieceText."""
        return self._decode_as("immutable_proto", input, kwargs)

    init = Init
    set_vocabulary = SetVocabulary
    reset_vocabulary = ResetVocabulary
    load_vocabulary = LoadVocabulary
    set_encode_extra_options = SetEncodeExtraOptions
    set_decode_extra_options = SetDecodeExtraOptions
    override_normalizer_spec = OverrideNormalizerSpec
    calculate_entropy = CalculateEntropy
    sample_encode_and_score = SampleEncodeAndScore
    sample_encode_and_score_as_pieces = SampleEncodeAndScoreAsPieces
    sample_encode_and_score_as_ids = SampleEncodeAndScoreAsIds
    sample_encode_and_score_as_serialized_proto = SampleEncodeAndScoreAsSerializedProto
    sample_encode_and_score_as_immutable_proto = SampleEncodeAndScoreAsImmutableProto
    encode_as_serialized_proto = EncodeAsSerializedProto
    encode_as_immutable_proto = EncodeAsImmutableProto
    sample_encode_as_serialized_proto = SampleEncodeAsSerializedProto
    sample_encode_as_immutable_proto = SampleEncodeAsImmutableProto
    nbest_encode_as_serialized_proto = NBestEncodeAsSerializedProto
    nbest_encode_as_immutable_proto = NBestEncodeAsImmutableProto
    decode_pieces_as_serialized_proto = DecodePiecesAsSerializedProto
    decode_ids_as_serialized_proto = DecodeIdsAsSerializedProto
    decode_pieces_as_immutable_proto = DecodePiecesAsImmutableProto
    decode_ids_as_immutable_proto = DecodeIdsAsImmutableProto


def _count(line: list[str]) -> int:
    try:
        return int(line[1])
    except ValueError:
        raise internal(f'the count of "{line[0]}" is no number: "{line[1]}"') from None


def _truth(value: Any) -> bool:
    text = str(value).lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError(f'INVALID_ARGUMENT: cannot parse "{value}" as bool.')


def _restricted(model: Model, wanted: Collection[bytes]) -> Model:
    """Make a copy that encodes with `wanted` and single characters.

    The score of unknown characters stays as it was: it comes of the lowest score of a NORMAL
    piece. If that piece is not wanted, the copy that encodes keeps it, under a text that no
    normalized text holds. So with the highest, on which those of user-defined pieces depended.
    """
    changes: dict[int, PieceChange] = {}
    normal: list[tuple[float, int]] = []
    kept: list[float] = []
    for token_id in range(model.size):
        kind = model.type(token_id)
        if kind not in (NORMAL, UNUSED):
            continue
        piece, score = model.piece(token_id), model.score(token_id)
        is_kept = piece in wanted or character_size(piece[0]) == len(piece)
        changes[token_id] = PieceChange(NORMAL if is_kept else UNUSED)
        if kind == NORMAL:
            normal.append((score, token_id))
        if is_kept:
            kept.append(score)
    visible = model_file.with_pieces(model.proto, changes)
    ghosts: set[int] = set()
    if normal and min(normal)[0] < min(kept, default=float("inf")):
        ghosts.add(min(normal)[1])
    if model.compat and normal and max(normal)[0] > max(kept, default=float("-inf")):
        ghosts.add(max(normal)[1])
    if not ghosts:
        return Model(visible, compat=model.compat)
    hidden = {each: PieceChange(NORMAL, b"\xff" + str(each).encode()) for each in ghosts}
    encoder = open_bytes(model_file.with_pieces(visible, hidden), model.compat)
    return Model(visible, encoder, model.compat)
