"""The class `SentencePieceProcessor` with the surface of sentencepiece 0.2.3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from isotok.compat.sentencepiece import _arguments as arguments
from isotok.compat.sentencepiece._decode import decode_input
from isotok.compat.sentencepiece._encoding import Sampling
from isotok.compat.sentencepiece._errors import NOT_LOADED, internal
from isotok.compat.sentencepiece._lookups import Lookups
from isotok.compat.sentencepiece._model import Model, read_file
from isotok.compat.sentencepiece._outputs import Output, over
from isotok.compat.sentencepiece._removed import Removed
from isotok.compat.sentencepiece._scored import Scorer
from isotok.compat.sentencepiece._settings import threads_for

if TYPE_CHECKING:
    from isotok._info import Compat

_SAMPLING_NEEDS = (
    'When enable_sampling is True, We must specify "nbest_size > 1" or "nbest_size = -1", '
    'and "alpha". "nbest_size" is enabled only on unigram mode ignored in BPE-dropout. '
    'when "nbest_size = -1" , this method samples from all candidates on the lattice '
    "instead of nbest segmentations."
)

# What a pickled processor leaves out: the model goes as its bytes.
_NOT_KEPT = (
    *("_model", "_loaded_model", "_wanted", "_scorer", "_extra_encode", "_extra_decode"),
    "_compat",
)


class SentencePieceProcessor(Lookups, Removed):
    """Encodes and decodes with a SentencePiece model, as the class of that name does.

    Parameters
    ----------
    model_file : path, optional
        A `.model`, or any other file that isotok opens.
    model_proto : bytes or ModelProto, optional
        The same in memory. Without both, load a model later.
    out_type, return_type : type or str
        What `Encode` gives by default: int, str, bytes, "proto", "serialized_proto",
        "numpy" or "offset_mapping"; "immutable_proto" as out_type only.
    add_bos, add_eos, reverse, emit_unk_piece : bool
        Defaults of `Encode`.
    enable_sampling, nbest_size, alpha
        Defaults of `Encode`.
    num_threads : int
        For batches; -1 takes all processors.
    compat : {"0.2.1"}, optional
        Give the ids of sentencepiece up to 0.2.1; of isotok, not of sentencepiece.

    Examples
    --------
    >>> from isotok.compat import sentencepiece as spm
    >>> sp = spm.SentencePieceProcessor(model_file=str(path))
    >>> sp.encode("hello world", out_type=str)
    ['▁hello', '▁world']
    >>> sp.decode([3, 4])
    'hello world'
    """

    def __init__(
        self,
        model_file: Any = None,
        model_proto: Any = None,
        out_type: Any = None,
        add_bos: bool = False,
        add_eos: bool = False,
        reverse: bool = False,
        emit_unk_piece: bool = False,
        enable_sampling: bool = False,
        nbest_size: int = -1,
        alpha: float = 0.1,
        num_threads: int = -1,
        return_type: Any = None,
        *,
        compat: Compat | None = None,
    ) -> None:
        self._compat: Compat | None = compat
        self._model: Model | None = None
        self._loaded_model: Model | None = None
        self._wanted: set[bytes] | None = None
        self._scorer: Scorer | None = None
        self._extra_encode: tuple[str, ...] = ()
        self._extra_decode: tuple[str, ...] = ()
        self._return_type = arguments.return_type_of(return_type, out_type, int)
        self._add_bos = add_bos
        self._add_eos = add_eos
        self._reverse = reverse
        self._emit_unk_piece = emit_unk_piece
        self._enable_sampling = enable_sampling
        self._nbest_size = nbest_size
        self._alpha = alpha
        self._num_threads = num_threads
        if model_file or model_proto:
            self.Load(model_file=model_file, model_proto=model_proto)

    # -- load ---------------------------------------------------------------------

    @classmethod
    def from_file(cls, model_file: Any, **kwargs: Any) -> Self:
        """Make a processor with a model from a file; options as of the class."""
        return cls._made(kwargs, "from_file", model_file=model_file)

    @classmethod
    def from_proto(cls, model_proto: Any, **kwargs: Any) -> Self:
        """Make a processor with a model in memory; options as of the class."""
        return cls._made(kwargs, "from_proto", model_proto=model_proto)

    @classmethod
    def _made(cls, options: dict[str, Any], name: str, **source: Any) -> Self:
        if options.keys() & {"model_file", "model_proto"}:
            raise ValueError(
                "model_file and model_proto cannot be passed via kwargs when using "
                f"{name} classmethod."
            )
        processor = cls(**options)
        if "model_file" in source:
            processor.LoadFromFile(source["model_file"])
        else:
            processor.LoadFromSerializedProto(source["model_proto"])
        return processor

    def Load(self, model_file: Any = None, model_proto: Any = None) -> bool:
        """Load a model from a file or from memory; returns True."""
        if model_file and model_proto:
            raise ValueError("model_file and model_proto must be exclusive.")
        if model_proto:
            return self.LoadFromSerializedProto(model_proto)
        if model_file:
            return self.LoadFromFile(model_file)
        raise ValueError("Either model_file or model_proto must be specified.")

    def LoadFromFile(self, filename: Any) -> bool:
        """Load a model from a file; returns True."""
        return self._open(read_file(arguments.path_of("filename", filename)))

    def LoadFromSerializedProto(self, serialized: Any) -> bool:
        """Load a model from bytes, or from a ModelProto; returns True."""
        return self._open(arguments.proto_bytes("serialized", serialized))

    def _open(self, data: bytes) -> bool:
        self._model = self._loaded_model = self._wanted = None
        self._model = self._loaded_model = Model(data, compat=self._compat)
        return True

    def serialized_model_proto(self) -> bytes:
        """Bytes of the model; none if there is no model."""
        return b"" if self._model is None else self._model.proto

    def _loaded(self) -> Model:
        if self._model is None:
            raise internal(NOT_LOADED)
        return self._model

    # -- encode -------------------------------------------------------------------

    def Encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        enable_sampling: bool | None = None,
        nbest_size: int | None = None,
        alpha: float | None = None,
        num_threads: int | None = None,
        thread_pool: Any = None,
        return_type: Any = None,
        out_type: Any = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Encode a text, or each of a list.

        Parameters
        ----------
        input : str, bytes or list of them
            Lone surrogates are an error.
        add_bos, add_eos, reverse, emit_unk_piece : bool, optional
            BOS in front and EOS at the end, both after reversing; the unknown piece in
            place of unknown text.
        enable_sampling, nbest_size, alpha : optional
            Draw a segmentation: of all (nbest_size < 0) or of the n best of a unigram
            model with P ~ exp(alpha * score); by dropout with probability alpha of BPE.
        num_threads, thread_pool : optional
            For lists.
        return_type, out_type : optional
            Two names for one option, see the class.
        return_bytes : bool, optional
            Of "offset_mapping": bytes and their places, not str and code points.

        Examples
        --------
        >>> from isotok.compat import sentencepiece as spm
        >>> spm.SentencePieceProcessor(model_file=str(path)).encode("hello world", add_bos=True)
        [1, 3, 4]
        """
        kind = arguments.return_type_of(return_type, out_type, self._return_type)
        if return_bytes is not None and kind != "offset_mapping":
            raise ValueError("return_bytes is only supported when return_type='offset_mapping'")
        sampling = self._sampling(enable_sampling, nbest_size, alpha)
        if num_threads is None:
            num_threads = self._num_threads
        arguments.need_thread_number(num_threads)
        as_bytes = _default_bytes(input) if return_bytes is None else return_bytes
        output = self._output(kind, add_bos, add_eos, reverse, emit_unk_piece, as_bytes)
        if isinstance(input, list):
            texts = arguments.each_bytes(cast("list[object]", input))
            return self._encode_batch(output, texts, sampling, num_threads, thread_pool)
        text = arguments.text_bytes(input)
        model = self._loaded()
        output.check_model(model)
        return output.encode(model, text, sampling)

    def _sampling(self, enable_sampling: Any, nbest_size: Any, alpha: Any) -> Sampling | None:
        """Check the options of sampling; None if none is wanted."""
        if enable_sampling is None:
            enable_sampling = self._enable_sampling
        if nbest_size is None:
            nbest_size = self._nbest_size
        if alpha is None:
            alpha = self._alpha
        if enable_sampling is True and (nbest_size in (None, 0, 1) or alpha is None):
            raise ValueError(_SAMPLING_NEEDS)
        sampling = Sampling(
            arguments.whole("nbest_size", nbest_size), arguments.real("alpha", alpha)
        )
        return sampling if arguments.flag("enable_sampling", enable_sampling) else None

    def _output(
        self,
        kind: Any,
        add_bos: Any,
        add_eos: Any,
        reverse: Any,
        emit_unk_piece: Any,
        as_bytes: Any = False,
    ) -> Output:
        flag = arguments.flag
        output = Output(
            kind,
            flag("add_bos", self._add_bos if add_bos is None else add_bos),
            flag("add_eos", self._add_eos if add_eos is None else add_eos),
            flag("reverse", self._reverse if reverse is None else reverse),
            flag(
                "emit_unk_piece",
                self._emit_unk_piece if emit_unk_piece is None else emit_unk_piece,
            ),
            flag("return_bytes", as_bytes),
            self._extra_encode,
        )
        output.check_kind()
        return output

    def _encode_batch(
        self,
        output: Output,
        texts: Sequence[bytes],
        sampling: Sampling | None,
        num_threads: int,
        thread_pool: Any,
    ) -> list[Any]:
        threads = threads_for(texts, num_threads, thread_pool)
        if not texts:
            return []
        model = self._loaded()
        output.check_model(model)
        if output.kind is int and sampling is None and not output.reverse and not output.extra:
            return model.encoder.encode_batch(
                texts, threads=threads, bos=output.add_bos, eos=output.add_eos, output="list"
            )
        return [output.encode(model, text, sampling) for text in texts]

    def EncodeAsPieces(self, input: Any, **kwargs: Any) -> Any:
        """Encode to pieces."""
        return self.Encode(input=input, return_type=str, **kwargs)

    def EncodeAsIds(self, input: Any, **kwargs: Any) -> Any:
        """Encode to ids."""
        return self.Encode(input=input, return_type=int, **kwargs)

    def EncodeAsNumpy(self, input: Any, **kwargs: Any) -> Any:
        """Encode to an array of ids."""
        return self.Encode(input=input, return_type="numpy", **kwargs)

    def EncodeAsProto(self, input: Any, **kwargs: Any) -> Any:
        """Encode to a SentencePieceText; needs protobuf."""
        return self.Encode(input=input, return_type="proto", **kwargs)

    def EncodeAsOffsetMapping(self, input: Any, **kwargs: Any) -> Any:
        """Encode to a dict of ids, pieces and offsets."""
        return self.Encode(input=input, return_type="offset_mapping", **kwargs)

    def _sample(self, kind: Any, input: Any, nbest_size: Any, alpha: Any, kwargs: Any) -> Any:
        options = {"nbest_size": nbest_size, "alpha": alpha, "enable_sampling": True, **kwargs}
        return self.Encode(input=input, return_type=kind, **options)

    def SampleEncodeAsPieces(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """Draw a segmentation as pieces."""
        return self._sample(str, input, nbest_size, alpha, kwargs)

    def SampleEncodeAsIds(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """Draw a segmentation as ids."""
        return self._sample(int, input, nbest_size, alpha, kwargs)

    def SampleEncodeAsNumpy(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """Draw a segmentation as an array of ids."""
        return self._sample("numpy", input, nbest_size, alpha, kwargs)

    def SampleEncodeAsProto(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """Draw a segmentation as a SentencePieceText; needs protobuf."""
        return self._sample("proto", input, nbest_size, alpha, kwargs)

    # -- n best -------------------------------------------------------------------

    def NBestEncode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        nbest_size: int | None = None,
        return_type: Any = None,
        out_type: Any = None,
    ) -> Any:
        """Encode a text, or each of a list, to its `nbest_size` best segmentations.

        Unigram models only. Scores are in the messages. Segmentations of equal scores
        come in an order that is not specified.
        """
        kind = arguments.return_type_of(return_type, out_type, self._return_type)
        if nbest_size is None:
            nbest_size = self._nbest_size
        size = 1 if nbest_size <= 0 else arguments.whole("nbest_size", nbest_size)

        def one(text: object) -> Any:
            if kind == "offset_mapping":
                raise ValueError(f"unknown return_type={kind}")
            output = self._output(kind, add_bos, add_eos, reverse, emit_unk_piece)
            data = arguments.text_bytes(text)
            model = self._loaded()
            output.check_model(model)
            return output.nbest(model, data, size)

        return over(input, one)

    def NBestEncodeAsPieces(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """List the best segmentations as pieces."""
        return self.NBestEncode(input=input, nbest_size=nbest_size, return_type=str, **kwargs)

    def NBestEncodeAsIds(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """List the best segmentations as ids."""
        return self.NBestEncode(input=input, nbest_size=nbest_size, return_type=int, **kwargs)

    def NBestEncodeAsNumpy(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """List the best segmentations as arrays of ids."""
        return self.NBestEncode(input=input, nbest_size=nbest_size, return_type="numpy", **kwargs)

    def NBestEncodeAsProto(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """List the best segmentations in an NBestSentencePieceText; needs protobuf."""
        return self.NBestEncode(input=input, nbest_size=nbest_size, return_type="proto", **kwargs)

    # -- parallel -----------------------------------------------------------------

    def ParallelEncode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        chunk_len: int | None = None,
        num_threads: int | None = None,
        thread_pool: Any = None,
        return_type: Any = None,
        out_type: Any = None,
    ) -> Any:
        """Encode a long text, or each of a list; gives what `Encode` gives.

        sentencepiece cuts the text every `chunk_len` code points and joins the results by
        comparing tokens. Here the text is encoded as a whole, so `chunk_len` changes nothing.
        """
        kind = arguments.return_type_of(return_type, out_type, self._return_type)
        if num_threads is None:
            num_threads = self._num_threads
        arguments.need_thread_number(num_threads)
        if chunk_len is None or not isinstance(chunk_len, int) or chunk_len <= 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError("chunk_len must be positive.")
        threads_for((), num_threads, thread_pool)

        def one(text: object) -> Any:
            if kind == "offset_mapping":
                raise ValueError(f"unknown return_type={kind}")
            output = self._output(kind, add_bos, add_eos, reverse, emit_unk_piece)
            data = arguments.text_bytes(text)
            model = self._loaded()
            output.check_model(model)
            return output.encode(model, data, None)

        return over(input, one)

    def ParallelEncodeAsPieces(self, input: Any, **kwargs: Any) -> Any:
        """Encode a long text to pieces."""
        return self.ParallelEncode(input=input, return_type=str, **kwargs)

    def ParallelEncodeAsIds(self, input: Any, **kwargs: Any) -> Any:
        """Encode a long text to ids."""
        return self.ParallelEncode(input=input, return_type=int, **kwargs)

    def ParallelEncodeAsNumpy(self, input: Any, **kwargs: Any) -> Any:
        """Encode a long text to an array of ids."""
        return self.ParallelEncode(input=input, return_type="numpy", **kwargs)

    def ParallelEncodeAsProto(self, input: Any, **kwargs: Any) -> Any:
        """Encode a long text to a SentencePieceText; needs protobuf."""
        return self.ParallelEncode(input=input, return_type="proto", **kwargs)

    # -- decode -------------------------------------------------------------------

    def Decode(
        self,
        input: Any,
        return_type: Any = None,
        out_type: Any = None,
        num_threads: int | None = None,
        thread_pool: Any = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Decode ids or pieces: one, a sequence of them, or a sequence of sequences.

        Parameters
        ----------
        input : int, str, bytes, or sequences and arrays of them
            All of one kind.
        return_type, out_type : optional
            str (the default), bytes, "proto", "serialized_proto" or "offset_mapping".
        num_threads, thread_pool : optional
            Taken and not used.
        return_bytes : bool, optional
            Of "offset_mapping": bytes and their places.
        """
        kind = arguments.return_type_of(return_type, out_type, str)
        if return_bytes is not None and kind != "offset_mapping":
            raise ValueError("return_bytes is only supported when return_type='offset_mapping'")
        if num_threads is None:
            num_threads = self._num_threads
        arguments.need_thread_number(num_threads)
        return decode_input(
            self._model, input, kind, bool(return_bytes), self._extra_decode, thread_pool
        )

    def DecodePieces(self, input: Any, return_type: Any = None, **kwargs: Any) -> Any:
        """Decode pieces."""
        return self.Decode(input=input, return_type=return_type, **kwargs)

    def DecodeIds(self, input: Any, return_type: Any = None, **kwargs: Any) -> Any:
        """Decode ids."""
        return self.Decode(input=input, return_type=return_type, **kwargs)

    def DecodePiecesAsProto(self, input: Any, **kwargs: Any) -> Any:
        """Decode pieces to a SentencePieceText; needs protobuf."""
        return self.Decode(input=input, return_type="proto", **kwargs)

    def DecodeIdsAsProto(self, input: Any, **kwargs: Any) -> Any:
        """Decode ids to a SentencePieceText; needs protobuf."""
        return self.Decode(input=input, return_type="proto", **kwargs)

    # -- normalize ----------------------------------------------------------------

    def Normalize(self, input: Any, with_offsets: Any = None) -> Any:
        """Normalize a text, or each of a list.

        Returns
        -------
        str or bytes, or with offsets a pair
            Of the same type as the text. Offsets are those of the code points (of bytes:
            of the bytes) and of the end.
        """
        from isotok.compat.sentencepiece._normalizer import normalize

        model = self._model
        encoder = None if model is None else model.encoder
        strips = model is not None and bool(with_offsets) and model.settings.strip_all
        return over(input, lambda text: normalize(encoder, text, bool(with_offsets), strips))

    # -- life ---------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Return options, attributes of subclasses and the model's bytes."""
        state = {name: value for name, value in vars(self).items() if name not in _NOT_KEPT}
        compat = self._compat if self._model is None else self._model.compat
        if compat is not None:  # which a `.model` does not tell
            state["_compat"] = compat
        return {**state, "model_proto": self.serialized_model_proto()}

    def __setstate__(self, state: Any) -> None:
        """Take what `__getstate__` returned, or the model's bytes alone."""
        kept: dict[str, Any] = {"model_proto": state}
        if isinstance(state, dict):
            kept = dict(cast("dict[str, Any]", state))
        SentencePieceProcessor.__init__(self, compat=kept.pop("_compat", None))
        self.LoadFromSerializedProto(kept.pop("model_proto"))
        self.__dict__.update(kept)

    # -- the same in snake_case, and older names -----------------------------------

    load = Load
    load_from_file = LoadFromFile
    load_from_serialized_proto = LoadFromSerializedProto
    encode = Tokenize = tokenize = Encode
    encode_as_pieces = EncodeAsPieces
    encode_as_ids = EncodeAsIds
    encode_as_numpy = EncodeAsNumpy
    encode_as_proto = EncodeAsProto
    encode_as_offset_mapping = EncodeAsOffsetMapping
    sample_encode_as_pieces = SampleEncodeAsPieces
    sample_encode_as_ids = SampleEncodeAsIds
    sample_encode_as_numpy = SampleEncodeAsNumpy
    sample_encode_as_proto = SampleEncodeAsProto
    nbest_encode = NBestEncode
    nbest_encode_as_pieces = NBestEncodeAsPieces
    nbest_encode_as_ids = NBestEncodeAsIds
    nbest_encode_as_numpy = NBestEncodeAsNumpy
    nbest_encode_as_proto = NBestEncodeAsProto
    parallel_encode = ParallelEncode
    parallel_encode_as_pieces = ParallelEncodeAsPieces
    parallel_encode_as_ids = ParallelEncodeAsIds
    parallel_encode_as_numpy = ParallelEncodeAsNumpy
    parallel_encode_as_proto = ParallelEncodeAsProto
    decode = Detokenize = detokenize = Decode
    decode_pieces = DecodePieces
    decode_ids = DecodeIds
    decode_pieces_as_proto = DecodePiecesAsProto
    decode_ids_as_proto = DecodeIdsAsProto
    normalize = Normalize


def _default_bytes(input: Any) -> bool:
    """Offset mappings are of the type of the text, of a list that of its first."""
    if isinstance(input, list):
        texts = cast("list[object]", input)
        return bool(texts) and isinstance(texts[0], bytes)
    return isinstance(input, bytes)
